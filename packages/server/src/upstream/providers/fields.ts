import { z } from 'zod'

// Members that the settings of several kinds of providers have.

/** The id of this service at the provider. */
export const clientId = z.string().min(1, 'expected the client id from the provider')

/** The secret. Optional in the file, because an environment variable can set it. */
export const secret = z.string().min(1, 'expected the secret from the provider').exactOptional()

/** The name that the buttons show. */
export const label = z.string().trim().min(1).max(40)

/** The base URL of another host, such as a server of your own or a stand-in for tests. */
export const url = z
  .url({ protocol: /^https?$/, error: 'expected a URL such as https://id.example.com' })
  .transform((value) => value.replace(/\/+$/, ''))

/** An issuer, which is compared exactly. */
export const issuer = z.url({
  protocol: /^https?$/,
  error: 'expected the issuer, a URL such as https://id.example.com',
})
