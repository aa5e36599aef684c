import type { ServerContext } from '../../context.ts'
import type { ApprovedRequest, AuthorizationResult } from '../../grants/grant.ts'
import type { Feature } from '../feature.ts'
import { createIdToken } from './id-token.ts'
import type { LogoutSupport } from './logout-parts.ts'
import type { FrontChannelResponseType, OpenIdSettings } from './settings.ts'

/**
 * Creates the implicit and hybrid response types that the options enable, such as `code id_token`
 * (OpenID Connect Core §3.2 and §3.3).
 */
export function createFrontChannelResponses(
  settings: OpenIdSettings,
  logout: LogoutSupport | null,
): NonNullable<Feature['responses']> {
  return settings.responseTypes.map((type) => ({
    grantType: 'implicit',
    response: {
      type,
      mode: 'fragment',
      prepare: (request: ApprovedRequest, context: ServerContext) =>
        prepare(type, request, { settings, logout }, context),
    },
  }))
}

async function prepare(
  type: FrontChannelResponseType,
  request: ApprovedRequest,
  { settings, logout }: { settings: OpenIdSettings; logout: LogoutSupport | null },
  context: ServerContext,
): Promise<AuthorizationResult> {
  const parts = type.split(' ')
  const made: AuthorizationResult[] = []
  for (const part of parts.filter((name) => name !== 'id_token')) {
    const offered = context.responses.get(part)
    if (!offered) throw new Error(`openid(): response_type=${type} needs the grant for ${part}`)
    made.push(await offered.response.prepare(request, context))
  }
  const params: Record<string, string> = Object.assign({}, ...made.map((each) => each.params))
  if (parts.includes('id_token')) {
    const { client, userId, scopes, details } = request
    await logout?.record({ client, userId, signIn: details?.signIn, isFirst: true }, context)
    params.id_token = await createIdToken(
      {
        client,
        userId,
        scopes,
        details: details ?? {},
        nonce: details?.nonce,
        ...(params.access_token !== undefined && { accessToken: params.access_token }),
        ...(params.code !== undefined && { code: params.code }),
        withScopes: type === 'id_token',
      },
      settings,
      context,
    )
  }
  return Object.assign({}, ...made, { params })
}
