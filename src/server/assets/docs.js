/** Starts Swagger UI over the document that the page names; the session's CSRF token goes with every request. */
const element = document.querySelector('#api');

/** Value of a cookie, or `''`. */
function cookie(name) {
  const found = document.cookie.split('; ').find((entry) => entry.startsWith(`${name}=`));
  return found === undefined ? '' : decodeURIComponent(found.slice(name.length + 1));
}

globalThis.SwaggerUIBundle({
  domNode: element,
  url: element.dataset.document,
  // Nothing is asked of other servers: no validator badge, no remote configuration.
  validatorUrl: null,
  queryConfigEnabled: false,
  deepLinking: true,
  docExpansion: 'list',
  filter: true,
  displayRequestDuration: true,
  persistAuthorization: false,
  requestInterceptor(request) {
    const isSafe = ['GET', 'HEAD', 'OPTIONS'].includes((request.method ?? 'GET').toUpperCase());
    const isOwn = new URL(request.url, location.href).origin === location.origin;
    if (!isSafe && isOwn) request.headers['X-CSRF-Token'] = cookie('svc_csrf');
    return request;
  },
});
