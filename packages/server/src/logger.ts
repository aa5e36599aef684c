import { ClockNotTrusted, isUnavailable } from '@tollgate/database'
import { type DestinationStream, type Logger, type LoggerOptions, pino } from 'pino'
import { getLogFields } from './log-context.ts'
import type { OutageDetector } from './outages.ts'

/** Patterns of secrets, wherever they appear in a text. */
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

/** Serializes an error and its causes, with secrets redacted. */
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
 * Creates a logger that writes one line of JSON per event, without headers, queries or bodies. Each
 * line has the id of the request, or the job, during which it was written (`log-context.ts`).
 * Passes errors that are caused by an unavailable database to `outages`, if given, which logs an
 * outage once instead of thousands of times.
 */
export function createLogger(
  level: string,
  destination?: DestinationStream,
  outages?: Pick<OutageDetector, 'notice'>,
): Logger {
  const options: LoggerOptions = {
    level,
    base: null,
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label) => ({ level: label }) },
    serializers: { err: describeError },
    mixin: getLogFields,
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

/**
 * Returns the logger of an area, whose lines name the area. Its level is that of the area in
 * `levels`, else that of the logger.
 */
export function areaLogger<Area extends string>(
  logger: Logger,
  area: NoInfer<Area>,
  levels: Readonly<Partial<Record<Area, string>>>,
): Logger {
  const level = levels[area]
  return logger.child({ area }, level === undefined ? {} : { level })
}

/** Adapts the logger to the interface of `oauth` and `billing`. */
export function plainLogger(logger: Logger): {
  error(message: string, error?: unknown): void
  warn(message: string): void
} {
  return {
    error: (message, error) => logger.error(error === undefined ? {} : { err: error }, message),
    warn: (message) => logger.warn(message),
  }
}
