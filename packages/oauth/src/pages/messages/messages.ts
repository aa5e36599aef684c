import { chooseLanguage, readLanguages, type Translate, translate } from '@tollgate/http'
import { de } from './de.ts'
import { type DefaultMessages, en } from './en.ts'

/**
 * Texts of one language that replace or extend those of the default pages. The key `scope.<name>`
 * describes a scope in this language.
 */
export type PageMessages = Partial<DefaultMessages> & {
  readonly [scope: `scope.${string}`]: string
}

/** Looks up texts of the default pages in one language. */
export type PageText = Translate<typeof en>

/** The texts of the default pages in all available languages. */
export interface PageTexts {
  /** Chooses the first available of these languages; English if there is none. */
  choose(languages: readonly string[]): PageText
  /**
   * Returns the description of a scope in a language, from the option `messages`. `null` if only
   * the option `scopes` describes it.
   */
  scope(name: string, language: string): string | null
}

/** Creates the texts of the default pages, including those of the option `messages`. */
export function createPageTexts(
  added: Readonly<Record<string, PageMessages>> = {},
  ownScopes: Readonly<Record<string, string>> = {},
): PageTexts {
  const builtIn: Readonly<Record<string, DefaultMessages>> = { en, de }
  const own = new Map(Object.entries(added).map(([tag, texts]) => [requireTag(tag), texts]))
  const names = [...new Set([...Object.keys(builtIn), ...own.keys()])]
  const texts = new Map(
    names.map((name) => [
      name,
      translate<typeof en>({ ...(builtIn[name] ?? en), ...requireTexts(own.get(name)) }, name),
    ]),
  )
  return {
    choose: (languages) => texts.get(chooseLanguage(languages, names, 'en')) ?? ENGLISH,
    scope(name, language) {
      const id = `scope.${name}` as const
      const ownText = own.get(language)?.[id]
      if (ownText !== undefined) return ownText
      if (Object.hasOwn(ownScopes, name) || !Object.hasOwn(en, id)) return null
      return (builtIn[language] ?? en)[id as keyof DefaultMessages]
    },
  }
}

function requireTag(tag: string): string {
  try {
    return new Intl.Locale(tag).toString()
  } catch {
    throw new TypeError(
      `messages: ${JSON.stringify(tag)} is no language. Write 'fr' or 'pt-BR', for example.`,
    )
  }
}

function requireTexts(texts: PageMessages = {}): PageMessages {
  const unknown = Object.keys(texts).find((id) => !Object.hasOwn(en, id) && !/^scope\../.test(id))
  if (unknown === undefined) return texts
  throw new TypeError(`messages: there is no text '${unknown}' on the default pages.`)
}

/**
 * The English texts of the default pages, for responses to requests whose language is not known.
 */
export const ENGLISH: PageText = translate<typeof en>(en, 'en')

/**
 * Lists the languages that a person reads, the preferred first: `ui_locales` of the request, then
 * those of the browser.
 */
export function listRequestedLanguages(
  request: { header(name: string): string | null },
  uiLocales: string | null | undefined,
): string[] {
  const all = [...readLanguages(uiLocales), ...readLanguages(request.header('accept-language'))]
  return [...new Set(all)]
}
