import { InvalidArgument } from '../errors/errors.ts'
import { formatValue } from './arguments.ts'

/**
 * Parses a locale to BCP 47, such as `pt-BR`. `null` if it is invalid. Accepts the forms `pt_BR`
 * and `pt_BR.UTF-8` of operating systems, databases and PHP, which Intl and the providers reject.
 */
export function findLocale(text: unknown): string | null {
  if (typeof text !== 'string') return null
  const [tag = ''] = text.trim().split(/[.@]/)
  try {
    return new Intl.Locale(tag.replaceAll('_', '-')).toString()
  } catch {
    return null
  }
}

/**
 * Parses the locale of a hosted page. `null` stands for the browser's language, which Stripe calls
 * `auto`.
 */
export function requirePageLocale(text: string | undefined): string | null {
  return text === undefined || text === 'auto' ? null : requireLocale('locale', text)
}

/**
 * Parses a locale that a caller passed.
 * @throws InvalidArgument if the locale is invalid.
 */
export function requireLocale(argumentName: string, text: unknown): string {
  const locale = findLocale(text)
  if (locale !== null) return locale
  throw new InvalidArgument(
    `${argumentName} is ${formatValue(text)}; expected a language such as 'de' or 'pt-BR'`,
  )
}
