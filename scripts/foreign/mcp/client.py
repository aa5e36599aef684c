"""Connects to an MCP server with the official SDK, which registers itself and asks the person."""

import asyncio
import os
import urllib.parse
import urllib.request

import httpx2
from mcp import ClientSession
from mcp.client.auth import AuthorizationCodeResult, OAuthClientProvider
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.auth import OAuthClientMetadata

ADDRESS = os.environ["MCP_ADDRESS"]
CALLBACK = "http://127.0.0.1:33418/callback"


class Kept:
    """What a program keeps."""

    tokens = None
    client = None

    async def get_tokens(self):
        return self.tokens

    async def set_tokens(self, tokens):
        self.tokens = tokens

    async def get_client_info(self):
        return self.client

    async def set_client_info(self, client):
        self.client = client


def visit(address):
    """What the person does: approves, and comes back with this."""
    query = urllib.parse.urlencode({"address": address})
    with urllib.request.urlopen(f"{os.environ['PERSON']}?{query}") as reply:
        callback = reply.read().decode()
    return dict(urllib.parse.parse_qsl(urllib.parse.urlparse(callback).query))


async def call(kept):
    asked = []

    async def redirect(address):
        asked.append(address)

    async def come_back():
        given = await asyncio.to_thread(visit, asked[-1])
        return AuthorizationCodeResult(code=given["code"], state=given["state"], iss=given["iss"])

    provider = OAuthClientProvider(
        ADDRESS,
        OAuthClientMetadata(client_name="A program", redirect_uris=[CALLBACK], token_endpoint_auth_method="none"),
        kept,
        redirect,
        come_back,
    )
    async with httpx2.AsyncClient(auth=provider, timeout=20) as http:
        async with streamable_http_client(ADDRESS, http_client=http) as streams:
            async with ClientSession(streams[0], streams[1]) as session:
                await session.initialize()
                tools = sorted(tool.name for tool in (await session.list_tools()).tools)
                assert tools == ["add_note", "list_notes"], tools
                read = (await session.call_tool("list_notes", {})).content[0].text
                assert read.endswith("notes"), read
                wrote = (await session.call_tool("add_note", {})).content[0].text
                assert wrote.startswith("written as"), wrote
    return len(asked)


async def main():
    kept = Kept()
    # Approve once to read, and again because the tool that writes needs another scope.
    assert await call(kept) == 2
    assert kept.tokens.scope.split() == ["notes:read", "notes:write"], kept.tokens.scope
    # The stored tokens are enough for the next connection.
    assert await call(kept) == 0


result, detail = "accepted", ""
try:
    asyncio.run(main())
except BaseException as error:
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    result, detail = "refused", " ".join(f"{type(error).__name__} {error}".split())
print("\t".join(["MCP SDK for Python", "-", "signIn", result, detail]))
