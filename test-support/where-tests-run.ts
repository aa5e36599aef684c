import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/** A folder or a file with tests, and why it is named here. */
type Named = readonly [path: string, because: string]

/**
 * Not in `npm test`: campaigns that take their time. They are the project `slow`, on SQLite, and `.ci/run`
 * runs them always. Those that are not named below run on Postgres and MariaDB, too.
 */
const slow: readonly Named[] = [
  ['examples', 'whole apps are started, and Next builds one'],
  ['packages/billing/test/contradictions.test.ts', 'a whole table, each row four times'],
  ['packages/billing/test/frequency-swap-table.test.ts', 'a whole table'],
  ['packages/billing/test/histories.test.ts', 'hundreds of random lives'],
  ['packages/billing/test/held-taxes.test.ts', 'every answer is lost once'],
  ['packages/billing/test/killed-braintree.test.ts', 'a process is killed at each of its steps'],
  ['packages/billing/test/killed-deliveries.test.ts', 'a process is killed at each of its steps'],
  ['packages/billing/test/killed-events.test.ts', 'a process is killed at each of its steps'],
  ['packages/billing/test/killed-stripe.test.ts', 'a process is killed at each of its steps'],
  ['packages/billing/test/lost-answers.test.ts', 'every answer is lost once'],
  ['packages/billing/test/planned-kept.test.ts', 'cut short at each step'],
  ['packages/billing/test/previews.test.ts', 'a whole table'],
  ['packages/billing/test/previews-of-bills.test.ts', 'a whole table'],
  ['packages/billing/test/processes.test.ts', 'several processes'],
  ['packages/billing/test/saved-500.test.ts', 'each call gets a 500 that is kept'],
  ['packages/billing/test/tax-changes.test.ts', 'a whole table'],
  ['packages/billing/test/usage/killed.test.ts', 'a process is killed at each of its steps'],
  ['packages/database/test/acknowledged.test.ts', 'processes are killed'],
  ['packages/database/test/durability.test.ts', 'processes are killed'],
  ['packages/database/test/outage.test.ts', 'waits for a database that is away'],
  ['packages/oauth/test/processes', 'several processes'],
  ['packages/oauth/test/threats/mutated-requests.test.ts', 'twenty thousand random requests'],
  ['packages/oauth/test/threats/mutated-standards.test.ts', 'thousands of random requests'],
  ['packages/sandbox/test/killed.test.ts', 'a process is killed at its writes'],
  ['packages/sandbox/test/stripe/every-call.test.ts', 'a whole table, for each SDK'],
  ['packages/sandbox/test/stripe/properties.test.ts', 'hundreds of random lives'],
  ['packages/server/test/processes.test.ts', 'several processes'],
  ['packages/server/test/restart.test.ts', 'several processes'],
]

/**
 * On SQLite only. Everything else runs on Postgres and MariaDB as well, and so does a new test until it is
 * named here. What belongs here sends no statement that other tests do not send there, which
 * `npm run check:statements` tries, and is about no race, lock, migration or value that databases take differently.
 */
const sqliteIsEnough: readonly Named[] = [
  // Frameworks, pages, guards and other people's clients: HTTP, over the flows that run everywhere.
  ['packages/billing/test/adapters.test.ts', 'frameworks'],
  ['packages/billing/test/clocks-apart.test.ts', 'what the provider takes'],
  ['packages/billing/test/held-taxes.test.ts', 'what the provider has and takes'],
  ['packages/billing/test/held-memory.test.ts', 'what the provider has and takes'],
  ['packages/billing/test/language.test.ts', 'what is printed'],
  ['packages/billing/test/messages.test.ts', 'what is refused before any statement'],
  ['packages/billing/test/pay-page.test.ts', 'the routes of a guide'],
  ['packages/billing/test/tax-changes.test.ts', 'what the provider has and takes'],
  ['packages/http/test', 'frameworks'],
  ['packages/oauth/test/adapters', 'frameworks'],
  ['packages/oauth/test/approval/application.test.ts', 'pages'],
  ['packages/oauth/test/approval/optional-scopes.test.ts', 'pages and scopes'],
  ['packages/oauth/test/clients', "other people's clients"],
  ['packages/oauth/test/cors', 'headers'],
  ['packages/oauth/test/device/clients.test.ts', "other people's clients"],
  ['packages/oauth/test/device/device.test.ts', 'pages; its races are in threats.test.ts'],
  ['packages/oauth/test/errors.test.ts', 'responses'],
  ['packages/oauth/test/exchange/exchange.test.ts', 'parameters and tokens'],
  ['packages/oauth/test/mcp', "other people's clients"],
  ['packages/oauth/test/openid', 'ID tokens and claims'],
  ['packages/oauth/test/request-objects', 'signed requests'],
  ['packages/oauth/test/resources', 'audiences of tokens'],
  ['packages/oauth/test/registration/certificates.test.ts', 'requests to others'],
  ['packages/oauth/test/registration/clients.test.ts', "other people's clients"],
  ['packages/oauth/test/registration/documents.test.ts', 'requests to others'],
  ['packages/oauth/test/registration/logos.test.ts', 'pictures'],
  ['packages/oauth/test/registration/outgoing.test.ts', 'requests to others'],
  ['packages/oauth/test/logout/rp-initiated.test.ts', 'parameters and redirects'],
  ['packages/oauth/test/logout/back-channel.test.ts', 'requests to others; see deliveries.test.ts'],
  ['packages/oauth/test/dpop/clients.test.ts', "other people's clients"],
  ['packages/oauth/test/dpop/guards.test.ts', 'frameworks'],
  ['packages/oauth/test/dpop/nonces.test.ts', 'nonces, which are computed'],
  ['packages/oauth/test/dpop/token-endpoint.test.ts', 'headers and tokens'],
  ['packages/oauth/test/dpop/with-others.test.ts', 'flows that run everywhere'],
  ['packages/oauth/test/registration/openid-registration.test.ts', 'what is said of a client'],
  ['packages/oauth/test/registration/policies.test.ts', 'settings'],
  ['packages/oauth/test/pushed/clients.test.ts', "other people's clients"],
  ['packages/oauth/test/pushed/pushed-requests.test.ts', 'parameters and redirects'],
  ['packages/oauth/test/introspection', 'responses'],
  ['packages/oauth/test/specification/authentication.test.ts', 'headers and forms'],
  ['packages/oauth/test/specification/authorize.test.ts', 'parameters and redirects'],
  ['packages/oauth/test/specification/cookie-mode.test.ts', 'cookies'],
  ['packages/oauth/test/specification/interaction.test.ts', 'pages and redirects'],
  ['packages/oauth/test/specification/limits.test.ts', 'lifetimes of tokens'],
  ['packages/oauth/test/specification/oauth-endpoints.test.ts', 'parameters and responses'],
  ['packages/oauth/test/step-up', 'frameworks'],
  ['packages/oauth/test/threats/account-ends.test.ts', 'sessions of the application'],
  ['packages/oauth/test/threats/authorization-endpoint.test.ts', 'parameters and redirects'],
  ['packages/oauth/test/threats/client-demands.test.ts', 'parameters and redirects'],
  ['packages/oauth/test/threats/fresh-sign-in.test.ts', 'sign-ins of the application'],
  ['packages/oauth/test/threats/guard.test.ts', 'headers and tokens'],
  ['packages/oauth/test/threats/removed-users.test.ts', 'users of the application'],
  ['packages/oauth/test/threats/mutated-standards.test.ts', 'parameters'],
  ['packages/oauth/test/threats/shared-secret.test.ts', 'keys and ciphers'],
  ['packages/server/test/account.test.ts', 'pages'],
  ['packages/server/test/asking.test.ts', 'pages'],
  ['packages/server/test/billing-pages.test.ts', 'pages'],
  ['packages/server/test/billing-production.test.ts', 'pages'],
  ['packages/server/test/command-words.test.ts', 'commands'],
  ['packages/server/test/client-limits.test.ts', 'who is counted; limits.test.ts has how'],
  [
    'packages/server/test/deliveries.test.ts',
    "commands; billing's event-deliveries.test.ts has the rows",
  ],
  ['packages/server/test/device.test.ts', 'pages'],
  ['packages/server/test/doctor-mcp.test.ts', 'requests to others'],
  ['packages/server/test/first-steps.test.ts', 'pages'],
  ['packages/server/test/hosted-pages.test.ts', 'pages'],
  ['packages/server/test/identity.test.ts', 'ID tokens and claims'],
  ['packages/server/test/log.test.ts', 'lines of the log'],
  ['packages/server/test/mcp.test.ts', "other people's clients"],
  ['packages/server/test/opened-by-people.test.ts', 'pages'],
  ['packages/server/test/openid.test.ts', 'ID tokens and claims'],
  ['packages/server/test/unexpected.test.ts', 'pages'],
  ['packages/server/test/pages.test.ts', 'pages'],
  ['packages/server/test/reading-commands.test.ts', 'what commands print'],
  ['packages/server/test/sign-in.test.ts', 'pages'],
  ['packages/server/test/standards.test.ts', 'settings'],
  ['packages/server/test/standards-commands.test.ts', 'commands'],
  ['packages/server/test/switched-off-grants.test.ts', 'pages'],
  // What providers say and what money is owed; rows are written as in creating, webhooks and specification/.
  ['packages/billing/test/another-card.test.ts', 'calls of a provider'],
  ['packages/billing/test/balance.test.ts', 'money'],
  ['packages/billing/test/billed-quantities.test.ts', 'money'],
  ['packages/billing/test/braintree-money.test.ts', 'money'],
  ['packages/billing/test/cards.test.ts', 'calls of a provider'],
  ['packages/billing/test/challenged-changes.test.ts', 'calls of a provider'],
  ['packages/billing/test/payment-methods.test.ts', 'calls of a provider'],
  ['packages/billing/test/checkout-payments.test.ts', 'calls of a provider'],
  ['packages/billing/test/checkout-return.test.ts', 'responses'],
  ['packages/billing/test/checkout.test.ts', 'calls of a provider; see checkout-at-once.test.ts'],
  ['packages/billing/test/dates.test.ts', 'calls of a provider'],
  ['packages/billing/test/delayed-payments.test.ts', 'calls of a provider'],
  ['packages/billing/test/disputes.test.ts', 'events of a provider; see counting.test.ts'],
  ['packages/billing/test/endpoints.test.ts', 'calls of a provider'],
  ['packages/billing/test/frequency-swap.test.ts', 'money'],
  ['packages/billing/test/frequency-swap-table.test.ts', 'money'],
  ['packages/billing/test/histories.test.ts', 'states of a provider'],
  ['packages/billing/test/invoice-events.test.ts', 'events of a provider'],
  ['packages/billing/test/invoice-route.test.ts', 'responses'],
  ['packages/billing/test/invoices.test.ts', 'money'],
  ['packages/billing/test/items.test.ts', 'calls of a provider'],
  ['packages/billing/test/lost-answers.test.ts', 'calls of a provider'],
  ['packages/billing/test/mail.test.ts', 'what is written; mail-queue.test.ts has the rows'],
  ['packages/billing/test/mixed-rhythms.test.ts', 'calls of a provider'],
  [
    'packages/billing/test/killed-braintree.test.ts',
    'the writes of killed-stripe and killed-events',
  ],
  ['packages/billing/test/newest-payment.test.ts', 'calls of a provider'],
  ['packages/billing/test/other-events.test.ts', 'events of a provider'],
  ['packages/billing/test/past-due.test.ts', 'money'],
  ['packages/billing/test/pauses.test.ts', 'calls of a provider; see counting.test.ts'],
  ['packages/billing/test/paying-again.test.ts', 'calls of a provider'],
  ['packages/billing/test/payments.test.ts', 'calls of a provider'],
  ['packages/billing/test/planned-kept.test.ts', 'calls of a provider'],
  ['packages/billing/test/planned-swaps.test.ts', 'calls of a provider'],
  ['packages/billing/test/previews.test.ts', 'money'],
  ['packages/billing/test/previews-of-bills.test.ts', 'money'],
  [
    'packages/billing/test/promotion-codes.test.ts',
    'calls of a provider; see code-attempts.test.ts',
  ],
  ['packages/billing/test/saved-500.test.ts', 'calls of a provider'],
  ['packages/billing/test/scenarios.test.ts', 'states of a provider'],
  ['packages/billing/test/specification/endpoints.test.ts', 'paths and signatures'],
  ['packages/billing/test/specification/errors.test.ts', 'what is refused, here or by a provider'],
  ['packages/billing/test/standing.test.ts', 'states of a provider'],
  ['packages/billing/test/starts.test.ts', 'money'],
  ['packages/billing/test/taxes.test.ts', 'money'],
  ['packages/billing/test/unpaid.test.ts', 'money'],
  ['packages/billing/test/line-taxes.test.ts', 'money'],
  ['packages/billing/test/usage/money.test.ts', 'money'],
  ['packages/billing/test/usage/dropped.test.ts', 'events of a provider'],
  ['packages/billing/test/usage/late.test.ts', 'money'],
  ['packages/billing/test/usage/swaps.test.ts', 'money'],
  ['packages/billing/test/usage/unpaid.test.ts', 'money'],
  ['packages/billing/test/usage/waiting.test.ts', 'money; reports.test.ts has the statements'],
  ['packages/billing/test/upcoming.test.ts', 'money'],
  ['packages/billing/test/voiding.test.ts', 'money'],
  ['packages/billing/test/gateway-contract.test.ts', 'gateways, which know no database'],
  ['packages/billing/test/outside-provider', 'a gateway, over the flows of specification/'],
  // Nothing of a database, or of this one only.
  ['packages/database/test/acknowledged.test.ts', 'a file'],
  ['packages/database/test/sqlite-file.test.ts', 'a file'],
  ['packages/oauth/test/docs.test.ts', 'the docs'],
  ['packages/server/test/docs.test.ts', 'the docs'],
  ['packages/server/test/sqlite-file.test.ts', 'a file'],
  ['packages/oauth/test/outside', 'what others write for the package'],
]

/** A person's way through the pages. */
const inChromium: readonly Named[] = [
  ['packages/sandbox/test/chromium', 'a browser'],
  ['packages/server/test/chromium', 'a browser'],
]

function toGlobs(named: readonly Named[]): string[] {
  return named.map(([path]) => {
    if (!existsSync(fileURLToPath(new URL(`../${path}`, import.meta.url)))) {
      throw new Error(`test-support/where-tests-run.ts names ${path}, which is not there`)
    }
    return path.endsWith('.test.ts') ? path : `${path}/**/*.test.ts`
  })
}

export const SLOW = toGlobs(slow)
export const SQLITE_IS_ENOUGH = toGlobs(sqliteIsEnough)
export const IN_CHROMIUM = toGlobs(inChromium)
