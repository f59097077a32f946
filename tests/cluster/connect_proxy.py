#!/usr/bin/env python3
"""A proxy on loopback that knows CONNECT alone: connect_proxy.py PORT [CERTIFICATE KEY], with those spoken to over TLS. Prints a line for
each tunnel that it opens: where to."""
import asyncio
import ssl
import sys


async def pump(reader, writer):
    try:
        while piece := await reader.read(1 << 16):
            writer.write(piece)
            await writer.drain()
    except OSError:
        pass
    finally:
        writer.close()


async def serve(reader, writer):
    try:
        verb, target, *_ = (await reader.readuntil(b"\r\n\r\n")).decode().split()
        if verb != "CONNECT":
            writer.write(b"HTTP/1.1 405 Method Not Allowed\r\n\r\n")
            return writer.close()
        host, port = target.rsplit(":", 1)
        to_reader, to_writer = await asyncio.open_connection(host, int(port))
    except (OSError, ValueError, asyncio.IncompleteReadError):
        return writer.close()
    print(target, flush=True)
    writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
    await asyncio.gather(pump(reader, to_writer), pump(to_reader, writer))


async def main():
    tls = None
    if len(sys.argv) > 2:
        tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        tls.load_cert_chain(sys.argv[2], sys.argv[3])
    server = await asyncio.start_server(serve, "127.0.0.1", int(sys.argv[1]), ssl=tls)
    await server.serve_forever()


asyncio.run(main())
