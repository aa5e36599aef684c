import { chooseLanguage } from '@tollgate/http'
import { arabicPhrases } from './ar.ts'
import { danishPhrases } from './da.ts'
import { germanPhrases } from './de.ts'
import { englishPhrases } from './en.ts'
import { spanishPhrases } from './es.ts'
import { frenchPhrases } from './fr.ts'
import { hebrewPhrases } from './he.ts'
import { italianPhrases } from './it.ts'
import { norwegianPhrases } from './nb.ts'
import { dutchPhrases } from './nl.ts'
import { polishPhrases } from './pl.ts'
import { portuguesePhrases } from './pt.ts'
import { swedishPhrases } from './sv.ts'
import {
  type LanguageWords,
  type MailKind,
  type MailKindWords,
  mailKinds,
  type TranslatedPhrases,
} from './words.ts'

/** The phrases of invoices and mail in each language, by language code. */
export const PHRASES_BY_LANGUAGE: Readonly<Record<string, TranslatedPhrases>> = {
  ar: arabicPhrases,
  da: danishPhrases,
  de: germanPhrases,
  en: englishPhrases,
  es: spanishPhrases,
  fr: frenchPhrases,
  he: hebrewPhrases,
  it: italianPhrases,
  nb: norwegianPhrases,
  nl: dutchPhrases,
  pl: polishPhrases,
  pt: portuguesePhrases,
  sv: swedishPhrases,
  no: norwegianPhrases,
}

/** The languages of mail and invoices, by code. */
export const mailLanguages: readonly string[] = Object.keys(PHRASES_BY_LANGUAGE).filter(
  (code) => code !== 'no',
)

/** Returns the phrases in the language of a locale, or in English if we have none. */
export function findLanguageWords(locale: string): LanguageWords {
  const phrases =
    PHRASES_BY_LANGUAGE[chooseLanguage([locale], Object.keys(PHRASES_BY_LANGUAGE), 'en')] ??
    englishPhrases
  const notices = mailKinds.map((kind) => {
    const words: MailKindWords = {
      subject: phrases[`${kind}.subject`],
      text: phrases[`${kind}.text`],
    }
    return [kind, words] as const
  })
  const mail = { ...phrases, ...(Object.fromEntries(notices) as Record<MailKind, MailKindWords>) }
  return { invoice: phrases, mail }
}
