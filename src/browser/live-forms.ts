import { startLiveForms } from './shared/live-form.ts';

startLiveForms();
