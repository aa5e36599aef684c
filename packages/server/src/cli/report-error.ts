import { isBillingError } from '@tollgate/billing'
import { ClockNotTrusted, isUnavailable } from '@tollgate/database'
import { isOAuthError } from '@tollgate/oauth'
import { ConfigurationError } from '../configuration-error.ts'
import { redactText } from '../logger.ts'
import { InvalidAccount } from '../users/parse.ts'
import { type Terminal, UsageError } from './command.ts'

const ASK_DATABASE = 'Check DATABASE_URL, that the server runs, and that this machine may reach it'
const ASK_DOCTOR =
  'Check the keys, and that this machine may reach it: `tollgate doctor` looks at both'

/** Says what went wrong on standard error, without secrets and without a stack; gives the exit code. */
export function reportError(error: unknown, json: boolean, terminal: Terminal): number {
  const message = redactText(explain(error))
  const isUsage =
    isOAuthError(error, 'validation_failed') ||
    [UsageError, ConfigurationError, InvalidAccount].some((kind) => error instanceof kind)
  const details = error instanceof UsageError ? error.details : {}
  terminal.stderr.write(
    json ? `${JSON.stringify({ error: message, ...details })}\n` : `${message}\n`,
  )
  return isUsage ? 2 : 1
}

function explain(error: unknown): string {
  if (isOAuthError(error, 'validation_failed')) return Object.values(error.errors).flat().join(' ')
  if (isBillingError(error, 'provider_unavailable')) return `${error.message}. ${ASK_DOCTOR}`
  if (isBillingError(error, 'database_unavailable')) return explain(error.cause)
  if (isOAuthError(error) || isBillingError(error)) return error.message
  if (!(error instanceof Error)) return String(error)
  if (error instanceof ClockNotTrusted) return `Nothing was done. ${error.message}`
  // Opening a database already says which one, and why.
  if (!isUnavailable(error)) return error.message
  if (error.message.startsWith('Cannot open')) return `${error.message}. ${ASK_DATABASE}`
  return `The database does not answer: ${error.message}. ${ASK_DATABASE}`
}
