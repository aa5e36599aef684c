import { NextRequest } from 'next/server.js'
import { afterAll, beforeAll, describe, expect, expectTypeOf, it } from 'vitest'
import { forNext, type RouteHandler } from '../../src/adapters/next.ts'
import type { AuthenticatedUser } from '../../src/guard/guard.ts'
import {
  buildSessionCookie,
  createClient,
  runCodeFlow,
  startServer,
  type TestServer,
  type TestUser,
} from '../support.ts'

/** Type that Next generates to check the exports of a route file. */
type Expected<Params> = (
  request: NextRequest,
  context: { params: Promise<Params> },
) => Promise<Response | undefined> | Response | undefined

describe('the Next adapter', () => {
  let server: TestServer
  let token: string
  beforeAll(async () => {
    server = await startServer()
    token = (await runCodeFlow(server, await createClient(server))).access_token
  })
  afterAll(() => server.close())

  const context = { params: Promise.resolve({ id: '7' }) }
  const requestWith = (headers: Record<string, string>) =>
    new NextRequest('http://localhost/orders/7?page=2', { headers })

  it("passes Next's request and the params of a dynamic route to the handler", async () => {
    const { auth, scopes } = forNext(server.oauth)
    const GET = auth(
      'api',
      scopes('place-orders'),
      async (
        request: NextRequest,
        { user, params }: { user: AuthenticatedUser; params: Promise<{ id: string }> },
      ) => Response.json([user.id, (await params).id, request.nextUrl.searchParams.get('page')]),
    )
    expectTypeOf(GET).toExtend<Expected<{ id: string }>>()
    expectTypeOf(GET).not.toExtend<Expected<{ name: string }>>()
    const reply = await GET(requestWith({ authorization: `Bearer ${token}` }), context)
    expect(await reply.json()).toEqual(['ada', '7', '2'])
  })

  it('passes the request and params of a page to its handler in cookie mode, too', async () => {
    const { freshToken } = forNext(server.oauth)
    const GET = freshToken(
      async (
        request: NextRequest,
        { csrfToken, params }: { csrfToken: string | null; params: Promise<{ id: string }> },
      ) => Response.json([typeof csrfToken, (await params).id, request.nextUrl.pathname]),
    )
    expectTypeOf(GET).toExtend<Expected<{ id: string }>>()
    const reply = await GET(requestWith({ cookie: buildSessionCookie('ada') }), context)
    expect(await reply.json()).toEqual(['string', '7', '/orders/7'])
  })

  it('returns handlers that match the type of every Next route if they do not declare params', () => {
    const { auth, freshToken, handlers } = forNext(server.oauth)
    const plain = auth('api', (request, { user, params }) => {
      expectTypeOf(request).toEqualTypeOf<Request>()
      expectTypeOf(user).toEqualTypeOf<AuthenticatedUser<TestUser>>()
      expectTypeOf(params).toBeUnknown()
      return Response.json(user.id)
    })
    const ofNext = auth('client', (request: NextRequest, { user }) =>
      Response.json([request.nextUrl.pathname, user.clientId]),
    )
    const page = freshToken((_request, { csrfToken }) => Response.json(csrfToken))
    expectTypeOf(plain).toEqualTypeOf<RouteHandler>()
    expectTypeOf(page).toEqualTypeOf<RouteHandler>()
    for (const route of [plain, ofNext, page, handlers.GET]) {
      // biome-ignore lint/complexity/noBannedTypes: so Next writes the params of a static route
      expectTypeOf(route).toExtend<Expected<{}>>()
      expectTypeOf(route).toExtend<Expected<{ id: string }>>()
    }
  })
})
