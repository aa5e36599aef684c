import { ClockNotTrusted, isUnavailable } from '@tollgate/database'
import { type DestinationStream, type Logger, type LoggerOptions, pino } from 'pino'
import type { Outages } from './outages.ts'

/** Things that open something, wherever they turn up in a text. */
const SECRETS: readonly RegExp[] = [
  /\b(?:Bearer|Basic) [\w.~+/=-]{8,}/gi,
  /\beyJ[\w-]{8,}\.[\w-]*\.[\w.-]*/g, // tokens that are JWTs or JWEs
  /\b(?:tg[a-z]_|sk_|rk_|whsec_|pm_|tok_)[\w-]{6,}/g,
  /(?<=:\/\/[^:/@\s]*:)[^@\s]+(?=@)/g, // the password of a URL
  /(?<=\b(?:password|client_secret|refresh_token|access_token|code|code_verifier|token|secret)=)[^&\s"']+/gi,
]

export function redactText(text: string): string {
  return SECRETS.reduce((redacted, pattern) => redacted.replace(pattern, '[redacted]'), text)
}

/** An error with its causes, as text in which no secret is left. */
function describeError(error: unknown): object {
  if (!(error instanceof Error)) return { message: redactText(String(error)) }
  const { name, message, stack, cause } = error
  const code = (error as { code?: unknown }).code
  return {
    type: name,
    message: redactText(message),
    ...(typeof code === 'string' ? { code } : {}),
    ...(stack === undefined ? {} : { stack: redactText(stack) }),
    ...(cause === undefined ? {} : { cause: describeError(cause) }),
  }
}

/**
 * One line of JSON for each event. Headers, queries and bodies are never part of one. A failure for lack of the
 * database goes to `outages`, if given, instead of the log: an outage would write thousands of the same line.
 */
export function createLogger(
  level: string,
  destination?: DestinationStream,
  outages?: Pick<Outages, 'notice'>,
): Logger {
  const options: LoggerOptions = {
    level,
    base: null,
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label) => ({ level: label }) },
    serializers: { err: describeError },
    hooks: {
      logMethod(args, method) {
        const [first] = args as readonly unknown[]
        const error = typeof first === 'object' && first && 'err' in first ? first.err : undefined
        const isOutage = isUnavailable(error) && !(error instanceof ClockNotTrusted)
        if (outages && isOutage) return outages.notice(error)
        const safe = args.map((arg: unknown) => (typeof arg === 'string' ? redactText(arg) : arg))
        method.apply(this, safe as Parameters<typeof method>)
      },
    },
  }
  return destination ? pino(options, destination) : pino(options)
}

/** The shape `oauth` and `billing` expect. */
export function plainLogger(logger: Logger): {
  error(message: string, error?: unknown): void
  warn(message: string): void
} {
  return {
    error: (message, error) => logger.error(error === undefined ? {} : { err: error }, message),
    warn: (message) => logger.warn(message),
  }
}
