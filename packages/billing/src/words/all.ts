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
import type { Words } from './words.ts'

/** By the code of the language. */
export const LANGUAGES: Readonly<Record<string, Words>> = {
  ...{ ar, da, de, en, es, fr, he, it, nb, nl, pl, pt, sv },
  no: nb,
}

/** The words of a locale's language; English where we have none. */
export function wordsOf(locale: string): Words {
  return LANGUAGES[new Intl.Locale(locale).language] ?? en
}

/** Arabic, Hebrew and their kin: the whole page is the other way round. */
export function isRightToLeft(locale: string): boolean {
  return RIGHT_TO_LEFT.has(new Intl.Locale(locale).maximize().script ?? '')
}

const RIGHT_TO_LEFT = new Set(['Arab', 'Hebr', 'Syrc', 'Thaa', 'Nkoo', 'Adlm'])
