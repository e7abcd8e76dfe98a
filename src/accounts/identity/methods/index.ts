/** Sign-in methods in order of precedence. */
import type { AuthenticationMethod } from '../method.ts';
import { apiKey } from './api-key.ts';
import { basic } from './basic.ts';
import { bearer } from './bearer.ts';
import { handlerCall } from './handler-call.ts';
import { session } from './session.ts';
import { token } from './token.ts';

export const methods: readonly AuthenticationMethod[] = [
  session,
  apiKey,
  basic,
  token,
  handlerCall,
  bearer,
];
