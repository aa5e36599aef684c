import { equalSecrets, sha256 } from '../../crypto.ts'
import type { Client } from '../../storage/records.ts'

export type SecretMethod = 'client_secret_basic' | 'client_secret_post' | 'none'

type Proves = (client: Client, secret: string | null) => boolean

/** What is proven by a secret or by nothing. Features bring the ways that need more. */
const METHODS: Readonly<Record<SecretMethod, Proves>> = {
  client_secret_basic: hasSecret,
  client_secret_post: hasSecret,
  // It only names itself: PKCE proves the code, and nothing proves the client.
  none: ({ confidential }) => !confidential,
}

/** Those that a confidential client may use. */
export const secretMethods: readonly SecretMethod[] = ['client_secret_basic', 'client_secret_post']

/** Whether this is how the client proves itself. One that has said how does it in no other way. */
export function isProvenBy(client: Client, method: SecretMethod, secret: string | null): boolean {
  const agreed = client.settings.token_endpoint_auth_method
  if (agreed !== undefined && agreed !== method) return false
  return METHODS[method](client, secret)
}

/** A public client has no secret, so one sent for it is as wrong as none for the others. */
function hasSecret({ confidential, secretHash }: Client, secret: string | null): boolean {
  if (!confidential || secret === null || secretHash === null) return false
  return equalSecrets(sha256(secret), secretHash)
}
