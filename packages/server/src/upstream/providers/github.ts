import * as oauth from 'oauth4webapi'
import { z } from 'zod'
import { clientId, secret, url } from './fields.ts'
import { type ProviderKind, type ProviderTools, UpstreamFailure } from './provider.ts'
import { asUpstreamFailure, requestOptions } from './requests.ts'

const GITHUB = 'https://github.com'

const settings = z.strictObject({
  clientId,
  clientSecret: secret,
  /** A GitHub Enterprise Server. */
  url: url.default(GITHUB),
})

const userShape = z.object({
  id: z.number().int().positive(),
  login: z.string(),
  name: z.string().nullish(),
})
const emailsShape = z.array(
  z.object({ email: z.string(), primary: z.boolean(), verified: z.boolean() }),
)

/**
 * GitHub: https://docs.github.com/apps/oauth-apps/building-oauth-apps/authorizing-oauth-apps. There
 * is no ID token: the API describes the owner of the access token.
 */
export const github: ProviderKind<z.output<typeof settings>> = {
  settings,
  secretMember: 'clientSecret',
  create({ id, secret, settings: { clientId, url } }, tools) {
    const api = url === GITHUB ? 'https://api.github.com' : `${url}/api/v3`
    const server: oauth.AuthorizationServer = {
      issuer: `${url}/login/oauth`,
      authorization_endpoint: `${url}/login/oauth/authorize`,
      token_endpoint: `${url}/login/oauth/access_token`,
    }
    const client: oauth.Client = { client_id: clientId }
    return {
      id,
      name: 'GitHub',
      origin: new URL(url).origin,
      postsResponse: false,
      async begin({ state, codeVerifier, redirectUri, isFresh }) {
        const query = new URLSearchParams({
          client_id: clientId,
          redirect_uri: redirectUri,
          scope: 'read:user user:email',
          state,
          code_challenge: await oauth.calculatePKCECodeChallenge(codeVerifier),
          code_challenge_method: 'S256',
          ...(isFresh && { prompt: 'select_account' }),
        })
        return new URL(`${server.authorization_endpoint}?${query}`)
      },
      finish: (response, { state, redirectUri, codeVerifier }) =>
        asUpstreamFailure(async () => {
          const callback = oauth.validateAuthResponse(server, client, response, state)
          const tokens = await oauth.authorizationCodeGrantRequest(
            server,
            client,
            oauth.ClientSecretPost(secret),
            callback,
            redirectUri,
            codeVerifier,
            requestOptions(tools, url),
          )
          await requireNoError(tokens)
          const { access_token: token } = await oauth.processAuthorizationCodeResponse(
            server,
            client,
            tokens,
          )
          const user = await read(tools, `${api}/user`, token, userShape)
          const emails = await read(tools, `${api}/user/emails`, token, emailsShape)
          const email = emails.find(({ primary }) => primary) ?? null
          return {
            subject: String(user.id),
            email: email?.email ?? null,
            isEmailVerified: email?.verified ?? false,
            name: user.name ?? user.login,
            authenticatedAt: null,
          }
        }),
      check: async () => `GitHub: used without discovery; people sign in at ${url}`,
    }
  },
}

/** GitHub responds to a wrong code with status 200 and an error. */
async function requireNoError(tokens: Response): Promise<void> {
  const body = (await tokens
    .clone()
    .json()
    .catch(() => null)) as { error?: unknown } | null
  if (typeof body?.error !== 'string') return
  const code = JSON.stringify(body.error.slice(0, 100))
  throw new UpstreamFailure('invalid', `The provider refused the code: ${code}`)
}

async function read<Shape extends z.ZodType>(
  { fetch }: ProviderTools,
  address: string,
  token: string,
  shape: Shape,
): Promise<z.output<Shape>> {
  const response = await fetch(address, {
    method: 'GET',
    headers: {
      accept: 'application/vnd.github+json',
      authorization: `Bearer ${token}`,
      'user-agent': 'tollgate',
      'x-github-api-version': '2022-11-28',
    },
  })
  const parsed = shape.safeParse(response.ok ? await response.json().catch(() => null) : null)
  if (parsed.success) return parsed.data
  throw new UpstreamFailure('invalid', `${address} responded ${response.status}, without the data`)
}
