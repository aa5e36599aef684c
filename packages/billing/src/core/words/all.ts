import { chooseLanguage } from '@tollgate/http'
import { ar } from './ar.ts'
import { da } from './da.ts'
import { de } from './de.ts'
import { en } from './en.ts'
import { es } from './es.ts'
import { fr } from './fr.ts'
import { he } from './he.ts'
import { it } from './it.ts'
import { nb } from './nb.ts'
import { nl } from './nl.ts'
import { pl } from './pl.ts'
import { pt } from './pt.ts'
import { sv } from './sv.ts'
import {
  NOTICE_KINDS,
  type NoticeKind,
  type NoticeWords,
  type Phrases,
  type Words,
} from './words.ts'

/** Phrases by language code. */
export const LANGUAGES: Readonly<Record<string, Phrases>> = {
  ...{ ar, da, de, en, es, fr, he, it, nb, nl, pl, pt, sv },
  no: nb,
}

/** Returns the phrases in the language of a locale, or in English if we have none. */
export function wordsOf(locale: string): Words {
  const phrases = LANGUAGES[chooseLanguage([locale], Object.keys(LANGUAGES), 'en')] ?? en
  const notices = NOTICE_KINDS.map((kind) => {
    const words: NoticeWords = {
      subject: phrases[`${kind}.subject`],
      text: phrases[`${kind}.text`],
    }
    return [kind, words] as const
  })
  const mail = { ...phrases, ...(Object.fromEntries(notices) as Record<NoticeKind, NoticeWords>) }
  return { invoice: phrases, mail }
}
