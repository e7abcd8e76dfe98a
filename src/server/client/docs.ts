/**
 * Starts Swagger UI over the document that the page names; the session's CSRF token goes with every request.
 */
import { csrfHeaders } from './cookies.ts';

interface SwaggerRequest {
  readonly method?: string;
  readonly url: string;
  headers: Record<string, string>;
}

declare const SwaggerUIBundle: (options: Record<string, unknown>) => void;

const SAFE_METHODS = ['GET', 'HEAD', 'OPTIONS'];
const element = document.querySelector<HTMLElement>('#api');

if (element !== null) {
  SwaggerUIBundle({
    domNode: element,
    url: element.dataset['document'],
    // Nothing is asked of other servers: no validator badge, no remote configuration.
    validatorUrl: null,
    queryConfigEnabled: false,
    deepLinking: true,
    // Two hundred operations take seconds to draw; groups are opened when they are wanted.
    docExpansion: 'none',
    filter: true,
    displayRequestDuration: true,
    persistAuthorization: false,
    requestInterceptor: (request: SwaggerRequest) => {
      const isOwn = new URL(request.url, location.href).origin === location.origin;
      const isSafe = SAFE_METHODS.includes((request.method ?? 'GET').toUpperCase());
      if (isOwn && !isSafe) Object.assign(request.headers, csrfHeaders());
      return request;
    },
  });
}
