import { InvalidArgument } from '../errors.ts'
import { shown } from './arguments.ts'

/**
 * A locale as BCP 47 writes it, `pt-BR`; null for what is none. Operating systems, databases and PHP write `pt_BR`
 * and `pt_BR.UTF-8`, which Intl and the providers refuse.
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

/** Of a hosted page; null for the browser's own, which Stripe calls `auto`. */
export function requirePageLocale(text: string | undefined): string | null {
  return text === undefined || text === 'auto' ? null : requireLocale('locale', text)
}

/** The same for what a caller has said, who is told. */
export function requireLocale(what: string, text: unknown): string {
  const locale = findLocale(text)
  if (locale !== null) return locale
  throw new InvalidArgument(
    `${what} is ${shown(text)}; expected a language such as 'de' or 'pt-BR'`,
  )
}
