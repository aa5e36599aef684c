import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import {
  findDifferingPlaceholders,
  findLiteralTexts,
  findUnusedMessages,
  readPageSources,
} from '../../../../../test-support/page-texts.ts'
import { de } from './de.ts'
import { en } from './en.ts'

const src = fileURLToPath(new URL('../../', import.meta.url))

describe('the page texts', () => {
  it('contain every text that the default pages use', () => {
    expect(findLiteralTexts(readPageSources([`${src}pages`]), [])).toEqual([])
  })

  it('contain no text that no page uses', () => {
    expect(findUnusedMessages(readPageSources([src]), Object.keys(en))).toEqual([])
  })

  it('have the same placeholders in German as in English', () => {
    expect(findDifferingPlaceholders(en, de)).toEqual([])
  })
})
