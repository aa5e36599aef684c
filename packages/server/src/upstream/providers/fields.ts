import { z } from 'zod'

// Members that the settings of several kinds of providers have.

/** Schema of the client id of this service at the provider. */
export const clientId = z.string().min(1, 'expected the client id from the provider')

/**
 * Schema of the client secret. Optional in the configuration file, because an environment variable
 * can set it.
 */
export const secret = z.string().min(1, 'expected the secret from the provider').exactOptional()

/** Schema of the name that the sign-in buttons show. */
export const label = z.string().trim().min(1).max(40)

/** Schema of the base URL of another host, such as a server of your own or a stand-in for tests. */
export const url = z
  .url({ protocol: /^https?$/, error: 'expected a URL such as https://id.example.com' })
  .transform((value) => value.replace(/\/+$/, ''))

/** Schema of an issuer URL, which is compared exactly. */
export const issuer = z.url({
  protocol: /^https?$/,
  error: 'expected the issuer, a URL such as https://id.example.com',
})
