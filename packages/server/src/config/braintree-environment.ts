import { createRequire } from 'node:module'
import type { BraintreeSettings } from '@tollgate/billing'
import type { Config } from './config.ts'

/**
 * Creates the Braintree settings of billing. For a host other than Braintree's two, such as a
 * sandbox, creates an `Environment` object of Braintree's SDK.
 */
export function braintreeEnvironment(config: NonNullable<Config['braintree']>): BraintreeSettings {
  const { apiUrl, ...options } = config
  if (apiUrl === null) return options
  const { protocol, hostname, port } = new URL(apiUrl)
  const ssl = protocol === 'https:'
  const braintree = createRequire(import.meta.url)('braintree')
  const { Environment } = braintree
  const environment = new Environment(
    hostname,
    port || (ssl ? '443' : '80'),
    '',
    ssl,
    `${hostname}/graphql`,
  )
  return { ...options, environment }
}
