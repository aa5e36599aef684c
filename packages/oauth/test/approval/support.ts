import { buildSessionCookie, REDIRECT, type TestServer, type TokenReply } from '../support.ts'

/** The fields a browser would submit from an approval page, and the page's HTML. */
export interface ApprovalForm {
  readonly action: string
  readonly csrfToken: string
  /** Name and value of each ticked checkbox. */
  readonly ticked: Readonly<Record<string, string>>
  readonly html: string
}

const plain = (text = '') => text.replaceAll('&amp;', '&')

export function readPage(html: string): ApprovalForm {
  const boxes = html.matchAll(/<input type="checkbox" name="([^"]+)" value="([^"]+)" checked>/g)
  return {
    action: plain(/action="([^"]+)"/.exec(html)?.[1]),
    csrfToken: /name="csrf_token" value="([^"]+)"/.exec(html)?.[1] ?? '',
    ticked: Object.fromEntries([...boxes].map(([, name = '', value = '']) => [name, value])),
    html,
  }
}

/** Presses Approve, and submits these additional fields. */
export function approve(
  server: TestServer,
  user: string,
  { action, csrfToken }: Pick<ApprovalForm, 'action' | 'csrfToken'>,
  fields: Record<string, string> | string,
): Promise<Response> {
  const own = new URLSearchParams({ csrf_token: csrfToken, decision: 'approve' })
  const body = `${own}&${new URLSearchParams(fields)}`
  return server.request(action, {
    method: 'POST',
    body,
    headers: {
      cookie: buildSessionCookie(user),
      origin: server.url,
      accept: 'text/html',
      'content-type': 'application/x-www-form-urlencoded',
    },
  })
}

/** Exchanges the code in this redirect and returns the token response. */
export async function redeem(
  server: TestServer,
  client: { readonly id: string; readonly secret: string },
  redirect: Response,
): Promise<TokenReply> {
  const location = new URL(redirect.headers.get('location') ?? `error:${redirect.status}`)
  const reply = await server.post('/oauth/token', {
    grant_type: 'authorization_code',
    client_id: client.id,
    client_secret: client.secret,
    redirect_uri: REDIRECT,
    code: location.searchParams.get('code') ?? '',
  })
  if (reply.status !== 200) throw new Error(`No token: ${await reply.text()}`)
  return (await reply.json()) as TokenReply
}
