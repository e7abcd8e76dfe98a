/**
 * Makes a grid of the page of a dataset: the table that came with the page gives way to one that scrolls through all rows and,
 * where the reader may write, changes them.
 */
import { startDataset } from './grid/dataset.ts';

const root = document.querySelector<HTMLElement>('#dataset');
if (root !== null) startDataset(root);
