import type { Clock } from '../clock.ts'
import type { ServerContext } from '../context.ts'
import { ValidationFailed } from '../errors.ts'
import type { ClientAuthMethod, ClientSettings } from '../storage/client-settings.ts'
import type { Client } from '../storage/records.ts'
import { isSecretOf } from './secret.ts'

/**
 * Lists the client authentication methods that the server accepts: the methods that use a client
 * secret, and the methods that features add. If a feature allows only its own methods, lists only
 * these.
 */
export function listOfferedAuthMethods({
  features: { authenticators, exclusiveAuthentication },
}: Pick<ServerContext, 'features'>): readonly ClientAuthMethod[] {
  if (exclusiveAuthentication) return exclusiveAuthentication.methods
  return [...new Set([...secretMethods, ...authenticators.flatMap((each) => each.methods)])]
}

/**
 * Checks that the server offers the authentication method in the settings of a new client.
 * Otherwise the client could never authenticate.
 * @throws ValidationFailed if the server does not offer the method
 */
export function assertAuthMethodOffered(
  { token_endpoint_auth_method: method }: ClientSettings,
  context: Pick<ServerContext, 'features'>,
): void {
  const { exclusiveAuthentication } = context.features
  if (exclusiveAuthentication) {
    if (method !== undefined && exclusiveAuthentication.methods.includes(method)) return
    const names = exclusiveAuthentication.methods.join(' or ')
    throw new ValidationFailed({
      settings: [`token_endpoint_auth_method must be ${names}: this server supports no other.`],
    })
  }
  if (method === undefined || method === 'none' || listOfferedAuthMethods(context).includes(method))
    return
  throw new ValidationFailed({
    settings: [
      `token_endpoint_auth_method ${method} is not supported by this server: add its feature to the option features.`,
    ],
  })
}

export type SecretMethod = 'client_secret_basic' | 'client_secret_post' | 'none'

type MethodCheck = (client: Client, secret: string | null, clock: Clock) => boolean

/** The built-in methods. Features add others, such as `private_key_jwt`. */
const METHODS: Readonly<Record<SecretMethod, MethodCheck>> = {
  client_secret_basic: hasSecret,
  client_secret_post: hasSecret,
  // The client is only identified, not authenticated: PKCE protects its codes instead.
  none: ({ confidential }) => !confidential,
}

/** The built-in methods for confidential clients. */
const secretMethods: readonly SecretMethod[] = ['client_secret_basic', 'client_secret_post']

/**
 * Whether the client may use this authentication method, and the secret is correct. A client with a
 * registered method may use no other.
 */
export function mayAuthenticateBy(
  client: Client,
  { method, secret }: { readonly method: SecretMethod; readonly secret: string | null },
  clock: Clock,
): boolean {
  const agreed = client.settings.token_endpoint_auth_method
  if (agreed !== undefined && agreed !== method) return false
  return METHODS[method](client, secret, clock)
}

/** Whether the secret is right. Always `false` for public clients, which have none. */
function hasSecret(client: Client, secret: string | null, clock: Clock): boolean {
  return secret !== null && isSecretOf(client, secret, clock)
}
