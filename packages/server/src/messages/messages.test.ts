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
  // For callers: the page of the deletion reads again what stands in its way.
  'An operator has disabled this account',
  'POST /oauth/token',
  'GET /api/orders',
  // For the log.
  'The setting servicePages failed for this page',
  // Braintree's reasons for a declined card.
  'Insufficient Funds',
  'Expired Card',
  'Card Issuer Declined CVV',
  // Written to the log.
  'A request failed unexpectedly',
  'A passkey was refused',
  'An account could not be ended',
  'An export of the audit log was cut off',
  'A person deleted their account',
  'The deletion of an account will go on',
  'The export of an account was cut off',
  // Problems of the settings, at start-up.
  'The configuration is invalid',
  'cannot be read…. Paths start at the working folder.',
  'has … bytes. Every page loads it, so … are allowed.',
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
