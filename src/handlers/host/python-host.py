"""The process in which Python handlers run: FastAPI routers behind uvicorn on a unix socket.

Protocol: src/handlers/host-protocol.ts; keep both alike. Arguments: socket path, document root.
Exit code 3: fastapi or uvicorn is not installed.
"""
import sys

# Python looks into the working directory first, where a handler may be called like a module of the library.
sys.path[:] = [entry for entry in sys.path if entry not in ("", sys.argv[2])]

import asyncio
import contextlib
import ctypes
import http.client
import json
import os
import signal
import socket
import threading
import time
import traceback
import types
from urllib.parse import quote, unquote, urlencode

try:
    import uvicorn
    from fastapi import APIRouter, FastAPI, HTTPException
    from starlette.routing import Match
except ImportError:
    sys.exit(3)

SOCKET_PATH, DOCROOT = sys.argv[1], sys.argv[2]
FOLDER = DOCROOT.rstrip("/") + "/"
LOAD_LIMIT_SECONDS = 10

loaded = {}
# Requests whose client is gone, and since when.
abandoned = {}
counter = 0


def follow_parent():
    """Ends with the server: by the kernel where it can, else when standard input ends."""
    with contextlib.suppress(Exception):
        ctypes.CDLL(None).prctl(1, signal.SIGKILL)

    def wait():
        with contextlib.suppress(Exception):
            while sys.stdin.buffer.read(4096):
                pass
        os._exit(0)

    threading.Thread(target=wait, daemon=True).start()


def own_modules():
    """Names of the loaded modules that lie in the document root."""
    names = {}
    for name, module in list(sys.modules.items()):
        path = getattr(module, "__file__", None)
        if isinstance(path, str) and os.path.realpath(path).startswith(FOLDER):
            names[name] = os.path.realpath(path)[len(FOLDER) :]
    return names


def describe(error, path):
    """One line that names the place in the handler file, without absolute paths."""
    if isinstance(error, SyntaxError):
        place = f"{error.filename}:{error.lineno}: " if error.filename else ""
        return f"{place}{type(error).__name__}: {error.msg}".replace(FOLDER, "")
    places = [f for f in traceback.extract_tb(error.__traceback__) if f.filename.startswith(FOLDER)]
    place = f"{places[-1].filename}:{places[-1].lineno}: " if places else ""
    return f"{place}{type(error).__name__}: {error}".replace(FOLDER, "")


class DataError(HTTPException):
    """An answer of 400 and above; a route that does not catch it answers the same."""


class Connection(http.client.HTTPConnection):
    """To the socket of the server, by a short path because the system allows only 107 bytes."""

    def connect(self):
        path = self.path
        folder = os.open(os.path.dirname(path), os.O_RDONLY)
        try:
            self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
            self.sock.connect(f"/proc/self/fd/{folder}/{os.path.basename(path)}")
        finally:
            os.close(folder)


class Data:
    """The API of this server in the name of whoever called the handler, while the call lasts."""

    def __init__(self, headers):
        self.token = headers["x-svc-token"]
        # Starlette reads headers as Latin-1; the path is UTF-8.
        self.path = headers["x-svc-socket"].encode("latin-1").decode()

    def fetch(self, path, method="GET", body=None, headers=None):
        """Status, headers and bytes of any route; no error for any status."""
        connection = Connection("localhost")
        connection.path = self.path
        try:
            given = {"Authorization": f"Bearer {self.token}", **(headers or {})}
            connection.request(method, path, body, given)
            answer = connection.getresponse()
            return answer.status, dict(answer.getheaders()), answer.read()
        finally:
            connection.close()

    def ask(self, path, method="GET", value=None):
        body = None if value is None else json.dumps(value)
        status, _, answer = self.fetch(path, method, body, {"Content-Type": "application/json"})
        found = json.loads(answer)
        if status >= 400:
            raise DataError(status, found.get("detail", found))
        return found

    def rows(self, name, filter=None, columns=None, **wish):
        """`sort`, `order`, `q`, `limit` and `offset` as in the API."""
        if filter is not None:
            wish["filter"] = json.dumps(filter)
        if columns is not None:
            wish["columns"] = ",".join('"' + one.replace('"', '""') + '"' for one in columns)
        return self.ask(f"/api/{quote(name)}/?{urlencode(wish)}")

    def create(self, name, rows):
        rows = [rows] if isinstance(rows, dict) else list(rows)
        return self.ask(f"/api/{quote(name)}/", "POST", {"action": "create", "data": rows})

    def update(self, name, row):
        return self.ask(f"/api/{quote(name)}/", "PATCH", {"action": "update", "data": row})

    def remove(self, name, row_id):
        row = {"_row_id": row_id}
        return self.ask(f"/api/{quote(name)}/", "DELETE", {"action": "delete", "data": row})

    def query(self, query):
        """In the search language: `rows` and `meta`."""
        return self.ask("/search2/api/run/", "POST", {"query": query})


def provide_data():
    """`import svc` in a handler."""
    module = types.ModuleType("svc")
    module.data = lambda request: Data(request.headers)
    module.DataError = DataError
    sys.modules["svc"] = module


class Handler:
    """One file: its application and what it was made of."""

    def __init__(self):
        self.app = None
        self.problem = None
        self.modules = []
        self.lifespan = None


async def load(rel):
    global counter
    # Its own copies of the modules beside it, none of them stale.
    for name in own_modules():
        sys.modules.pop(name, None)
    path = FOLDER + rel
    handler = Handler()
    counter += 1
    name = f"svc_handler_{counter}"
    module = types.ModuleType(name)
    module.__file__ = path
    sys.modules[name] = module
    folder = os.path.dirname(path)
    if folder not in sys.path:
        sys.path.append(folder)
    try:
        with open(path, "rb") as file:
            code = compile(file.read(), path, "exec", dont_inherit=True)
        exec(code, module.__dict__)
        router = getattr(module, "router", None)
        if router is not None:
            if not isinstance(router, APIRouter):
                raise TypeError("`router` is not a FastAPI APIRouter")
            await make_app(handler, router)
    except (Exception, SystemExit) as error:
        handler.app = None
        handler.problem = describe(error, path)
    finally:
        with contextlib.suppress(ValueError):
            if folder != DOCROOT:
                sys.path.remove(folder)
    handler.modules = sorted({rel, *own_modules().values()})
    return handler


async def make_app(handler, router):
    app = FastAPI(title="handler", openapi_url=None, docs_url=None, redoc_url=None)
    app.router.redirect_slashes = False
    app.include_router(router)
    handler.lifespan = app.router.lifespan_context(app)
    await asyncio.wait_for(handler.lifespan.__aenter__(), LOAD_LIMIT_SECONDS)
    handler.app = app


async def unload(rel):
    handler = loaded.pop(rel, None)
    await close(handler)


async def close(handler):
    if handler is not None and handler.app is not None:
        with contextlib.suppress(Exception):
            await asyncio.wait_for(handler.lifespan.__aexit__(None, None, None), 5)


async def reply(send, status, body, headers=()):
    """A whole answer; `body` is bytes or a JSON value."""
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    kind = () if status == 204 else ((b"content-type", b"application/json"),)
    length = () if status == 204 else ((b"content-length", str(len(content)).encode()),)
    await send({"type": "http.response.start", "status": status, "headers": [*kind, *length, *headers]})
    await send({"type": "http.response.body", "body": content})


async def body_of(receive):
    content = b""
    while True:
        message = await receive()
        content += message.get("body", b"")
        if message["type"] == "http.disconnect" or not message.get("more_body"):
            return content


async def obey(scope, receive, send):
    """A command of the server."""
    path = scope["path"]
    if path == "/ping":
        return await reply(send, 200, b"idle")
    if path == "/state":
        oldest = min(abandoned.values(), default=None)
        age = 0 if oldest is None else (time.monotonic() - oldest) * 1000
        return await reply(send, 200, {"abandonedMs": age})
    rel = json.loads(await body_of(receive))["rel"]
    if path == "/load":
        handler = await load(rel)
        before = loaded.get(rel)
        loaded[rel] = handler
        if before is not None:
            asyncio.get_running_loop().call_later(1, lambda: asyncio.ensure_future(close(before)))
        return await reply(send, 200, {"problem": handler.problem, "modules": handler.modules})
    if path == "/unload":
        await unload(rel)
        return await reply(send, 204, b"")
    if path == "/schema":
        handler = loaded.get(rel)
        schema = {"paths": {}} if handler is None or handler.app is None else handler.app.openapi()
        return await reply(send, 200, {k: schema[k] for k in ("paths", "components") if k in schema})
    await reply(send, 404, b"")


class Exchange:
    """One request to a router: notices a client that disconnects and gives errors our shapes."""

    def __init__(self, scope, receive, send):
        self.scope, self.receive, self.send = scope, receive, send
        self.started = False
        self.status = 0
        self.allow = ()
        self.held = []
        self.watcher = None

    async def run(self, app):
        try:
            method = self.scope["method"]
            self.scope = routed(app, self.scope)
            if method in ("GET", "HEAD", "OPTIONS"):
                self.begin_watch()
            await app(self.scope, self.hear, self.tell)
            if self.status == 405 and not self.started and method == "HEAD":
                # FastAPI has no HEAD for its GET routes; the server drops the body.
                self.scope = {**self.scope, "method": "GET"}
                self.status = 0
                await app(self.scope, self.hear, self.tell)
            elif self.status == 405 and not self.started:
                await self.refuse(method)
            for message in self.held:
                await self.pass_on(message)
        except (Exception, SystemExit) as error:
            if self.started:
                raise
            text = "".join(traceback.format_exception(type(error), error, error.__traceback__))
            thrown = {"message": f"{type(error).__name__}: {error}", "stack": text}
            await reply(self.send, 500, thrown, ((b"x-svc-thrown", b"1"),))
        finally:
            if self.watcher is not None:
                self.watcher.cancel()
            abandoned.pop(id(self), None)

    async def refuse(self, method):
        headers = tuple(self.allow)
        if method == "OPTIONS":
            return await reply(self.send, 204, b"", headers)
        await reply(self.send, 405, {"detail": "Method Not Allowed"}, headers)

    async def tell(self, message):
        """Holds back a 405, to add the methods that do exist, and a 500, which may be an exception's."""
        if message["type"] == "http.response.start" and message["status"] == 500:
            self.held.append(message)
            return
        if self.held:
            self.held.append(message)
            return
        if message["type"] == "http.response.start" and message["status"] == 405:
            self.status = 405
            names = [value.decode("latin-1") for key, value in message["headers"] if key.lower() == b"allow"]
            methods = [part.strip() for name in names for part in name.split(",") if part.strip()]
            if not methods:
                self.status = 0
                return await self.pass_on(message)
            methods += ["HEAD"] if "GET" in methods and "HEAD" not in methods else []
            methods += [] if "OPTIONS" in methods else ["OPTIONS"]
            self.allow = ((b"allow", ", ".join(methods).encode()),)
            return
        if self.status == 405:
            return
        await self.pass_on(message)

    async def pass_on(self, message):
        self.started = True
        await self.send(message)

    def begin_watch(self):
        """The body has been read: only the disconnect of the client can follow."""
        self.messages = asyncio.Queue()
        self.watcher = asyncio.ensure_future(self.watch())

    async def watch(self):
        while True:
            message = await self.receive()
            self.messages.put_nowait(message)
            if message["type"] == "http.disconnect":
                abandoned.setdefault(id(self), time.monotonic())
                return

    async def hear(self):
        if self.watcher is not None:
            return await self.messages.get()
        message = await self.receive()
        if message["type"] == "http.disconnect":
            abandoned.setdefault(id(self), time.monotonic())
        elif not message.get("more_body"):
            self.begin_watch()
        return message


def routed(app, scope):
    """With or without a final slash, whichever has a route, instead of a redirect."""
    if any(route.matches(scope)[0] != Match.NONE for route in app.router.routes):
        return scope
    path = scope["path"]
    other = {**scope, "path": path[:-1] if path.endswith("/") else path + "/"}
    if path != "/" and any(route.matches(other)[0] != Match.NONE for route in app.router.routes):
        return other
    return scope


async def application(scope, receive, send):
    if scope["type"] != "http":
        return
    rel = None
    headers = []
    for name, value in scope["headers"]:
        if name == b"x-svc-handler":
            rel = unquote(value.decode("latin-1"))
        else:
            headers.append((name, value))
    if rel is None:
        return await obey(scope, receive, send)
    handler = loaded.get(rel)
    if handler is None or handler.app is None:
        return await reply(send, 404, {"detail": "Not Found"})
    await Exchange({**scope, "headers": headers}, receive, send).run(handler.app)


class Server(uvicorn.Server):
    """Ignores the terminal's signals: the server drains first and then kills."""

    def install_signal_handlers(self):
        pass

    @contextlib.contextmanager
    def capture_signals(self):
        yield


def listen():
    """An owner-only socket, bound by a short path because the system allows only 107 bytes."""
    umask = os.umask(0o177)
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    os.chdir(os.path.dirname(SOCKET_PATH))
    listener.bind(os.path.basename(SOCKET_PATH))
    os.chdir(DOCROOT)
    os.umask(umask)
    return listener


def main():
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    follow_parent()
    with contextlib.suppress(OSError):
        with open("/proc/self/oom_score_adj", "w") as file:
            file.write("500")
    sys.argv[:] = ["svc-handlers"]
    sys.path.append(DOCROOT)
    provide_data()
    config = uvicorn.Config(
        application,
        log_config=None,
        access_log=False,
        lifespan="off",
        ws="none",
        server_header=False,
        date_header=False,
        timeout_keep_alive=86_400,
        proxy_headers=False,
    )
    Server(config).run(sockets=[listen()])


main()
