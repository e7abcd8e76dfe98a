/**
 * The list of operations: filtered while one types.
 */
import { startLiveForms } from './live-form.ts';

startLiveForms();
