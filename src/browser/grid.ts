/**
 * Replaces the static table of a dataset page by a grid that scrolls through all rows and, with
 * write access, edits them.
 */
import { startDataset } from './grid/dataset.ts';

const root = document.querySelector<HTMLElement>('#dataset');
if (root !== null) startDataset(root);
