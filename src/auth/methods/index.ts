/**
 * Every way to authenticate, first the one whose identity wins (DS-94). A new one is one more line.
 */
import type { AuthenticationMethod } from '../method.ts';
import { apiKey } from './api-key.ts';
import { basic } from './basic.ts';
import { bearer } from './bearer.ts';
import { session } from './session.ts';
import { token } from './token.ts';

/** In order of precedence. */
export const methods: readonly AuthenticationMethod[] = [session, apiKey, basic, token, bearer];
