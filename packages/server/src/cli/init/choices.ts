import { UsageError } from '../usage-error.ts'

/** The kinds of databases: an example of a URL, the driver's package, and the schemes of URLs. */
export const INIT_DATABASES = {
  sqlite: { url: 'sqlite:tollgate.db', driver: 'libsql', schemes: ['sqlite', 'file'] },
  postgres: {
    url: 'postgres://localhost:5432/app',
    driver: 'pg',
    schemes: ['postgres', 'postgresql'],
  },
  mysql: { url: 'mysql://localhost:3306/app', driver: 'mysql2', schemes: ['mysql', 'mariadb'] },
} as const

export type DatabaseName = keyof typeof INIT_DATABASES
/** Examples of URLs, for messages. */
export const EXAMPLE_URLS = Object.values(INIT_DATABASES)
  .map(({ url }) => url)
  .join(', ')
const DATABASE_NAMES = Object.keys(INIT_DATABASES) as readonly DatabaseName[]

/** The payment providers, by the names that `--billing` takes. */
export const INIT_BILLING_CHOICES = {
  none: { packages: [], settings: {}, options: '' },
  stripe: {
    packages: ['stripe'],
    settings: { STRIPE_SECRET: 'sk_test_replace_me', STRIPE_WEBHOOK_SECRET: 'whsec_replace_me' },
    options: `stripe: {
      secret: process.env.STRIPE_SECRET,
      webhookSecret: process.env.STRIPE_WEBHOOK_SECRET,
    },`,
  },
  braintree: {
    packages: ['braintree'],
    settings: {
      BRAINTREE_ENVIRONMENT: 'sandbox',
      BRAINTREE_MERCHANT_ID: 'replace_me',
      BRAINTREE_PUBLIC_KEY: 'replace_me',
      BRAINTREE_PRIVATE_KEY: 'replace_me',
    },
    options: `braintree: {
      environment: process.env.BRAINTREE_ENVIRONMENT === 'production' ? 'production' : 'sandbox',
      merchantId: process.env.BRAINTREE_MERCHANT_ID,
      publicKey: process.env.BRAINTREE_PUBLIC_KEY,
      privateKey: process.env.BRAINTREE_PRIVATE_KEY,
    },`,
  },
} as const

export type BillingName = keyof typeof INIT_BILLING_CHOICES
export const BILLING_NAMES = Object.keys(INIT_BILLING_CHOICES) as readonly BillingName[]

/** The answers to the questions of `tollgate init`. */
export interface InitChoices {
  /** URL of the database. */
  readonly database: string
  readonly billing: BillingName
  /** Table with the application's users. `null` if they are not in this database. */
  readonly users: string | null
}

/** The default answers: a database in a file, no billing, and no table with users. */
export const DEFAULT_CHOICES: InitChoices = {
  database: INIT_DATABASES.sqlite.url,
  billing: 'none',
  users: null,
}

/**
 * Parses the URL of a database. The name of a kind of database, such as `postgres`, stands for its
 * example URL.
 * @throws UsageError if no kind of database has the scheme of the URL.
 */
export function parseDatabase(text: string): string {
  const kind = DATABASE_NAMES.find((name) => name === text)
  if (kind !== undefined) return INIT_DATABASES[kind].url
  getDatabaseName(text)
  return text
}

/**
 * Finds the kind of database of a URL.
 * @throws UsageError if no kind of database has its scheme.
 */
export function getDatabaseName(url: string): DatabaseName {
  const scheme = /^([a-z]+):/i.exec(url)?.[1]?.toLowerCase() ?? ''
  const found = DATABASE_NAMES.find((name) =>
    INIT_DATABASES[name].schemes.some((each: string) => each === scheme),
  )
  if (found !== undefined) return found
  throw new UsageError(
    // The URL may contain a password, so only its scheme is shown.
    `The URL of the database has ${scheme === '' ? 'no scheme' : `the unknown scheme ${scheme}:`}; expected one such as ${EXAMPLE_URLS}`,
  )
}

/**
 * Parses the name of a payment provider.
 * @throws UsageError if there is no such provider.
 */
export function parseBilling(text: string): BillingName {
  const found = BILLING_NAMES.find((name) => name === text)
  if (found !== undefined) return found
  throw new UsageError(
    `The payment provider must be one of ${BILLING_NAMES.join(', ')}, not ${JSON.stringify(text)}`,
  )
}

/** @throws UsageError if the choices contradict each other or the name of the table is invalid. */
export function assertChoices({ billing, users }: InitChoices): void {
  if (users !== null && !/^[a-z_]\w*(?:\.[a-z_]\w*)?$/i.test(users)) {
    throw new UsageError(
      `The table of users must be a name such as users or app.users, not ${JSON.stringify(users)}`,
    )
  }
  if (billing !== 'none' && users === null) {
    throw new UsageError(
      'Billing adds columns to the table of your users, so it must know the table: add --users <table>, or use --billing none',
    )
  }
}
