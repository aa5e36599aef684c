import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import {
  findDifferingPlaceholders,
  findLiteralTexts,
  findUnusedMessages,
  readPageSources,
} from '../../../../test-support/page-texts.ts'
import { de } from './de.ts'
import { en } from './en.ts'

const src = fileURLToPath(new URL('../', import.meta.url))

/** Names and code, the same in every language. */
const EXCEPTIONS = [
  'tollgate client create',
  'Authorization: Bearer …',
  'usePage() only works inside renderPage()',
  'PDF',
  // For developers: the pages have their own texts for errors of billing.
  'There is no subscription to change',
  'POST /oauth/token',
  'GET /api/orders',
  // Braintree's reasons for a declined card.
  'Insufficient Funds',
  'Expired Card',
  'Card Issuer Declined CVV',
  // Written to the log.
  'A request failed unexpectedly',
  'A passkey was refused',
  'An account could not be ended',
  'An export of the audit log was cut off',
  'The price of a plan cannot be previewed',
  'The payment provider does not know the members',
]

it('the message catalogue contains every text that the pages use', () => {
  const scripts = ['app', 'billing', 'braintree-card', 'passkeys'].map(
    (name) => `../assets/${name}.js`,
  )
  const users = ['describe-account', 'end-account'].map((name) => `users/${name}.ts`)
  const paths = ['pages', 'app.ts', ...users, ...scripts]
  const sources = readPageSources(paths.map((path) => `${src}${path}`))
  expect(findLiteralTexts(sources, EXCEPTIONS)).toEqual([])
})

it('the English message catalogue contains no text that no page uses', () => {
  expect(findUnusedMessages(readPageSources([src]), Object.keys(en))).toEqual([])
})

it('the German message catalogue has the same placeholders as the English one', () => {
  expect(findDifferingPlaceholders(en, de)).toEqual([])
})
