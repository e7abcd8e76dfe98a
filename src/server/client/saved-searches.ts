/**
 * The page of saved searches follows its filter while one types.
 */
import { startLiveForms } from './live-form.ts';

startLiveForms();
