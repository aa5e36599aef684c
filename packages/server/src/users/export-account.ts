import type { Billing } from '@tollgate/billing'
import { cardAccountName, factorAccountName, hashAccountName } from '../storage/account-names.ts'
import { readGateData } from '../storage/gate-data.ts'
import { type PersonEntry, readPersonTables } from '../storage/read-person.ts'
import type { ServiceDatabase } from '../storage/tables.ts'
import { PROVIDER_NAMES } from './account-billing.ts'
import type { BillingAccess } from './end-account.ts'
import { emailKey } from './parse.ts'
import type { Account } from './user.ts'

/** Returns the hashed names under which the networks of an account are remembered. */
export function listAccountNames({ id, email }: Pick<Account, 'id' | 'email'>): string[] {
  return [emailKey(email), cardAccountName(id), factorAccountName(id)].map(hashAccountName)
}

/**
 * Reads everything that the service holds about a person, page by page: the rows of all tables with
 * data about people, and invoices and payment methods from the provider. Contains no secrets.
 *
 * The provider is called first, so that an outage fails before anything was written.
 */
export async function* exportAccount(
  database: ServiceDatabase,
  billing: BillingAccess,
  account: Account,
): AsyncGenerator<readonly PersonEntry[]> {
  const fromProvider =
    account.billedBy === null ? [] : await readProvider(await billing.provider(), account)
  yield* readPersonTables(database, {
    number: Number(account.id),
    text: account.id,
    accounts: listAccountNames(account),
  })
  yield await readGateData(database, `user:${account.id}`)
  yield fromProvider
}

/** Reads the invoices and the names of the payment methods. */
async function readProvider(billing: Billing, { id }: Account): Promise<PersonEntry[]> {
  const billable = await billing.user(Number(id))
  const [invoices, methods] = await Promise.all([
    billable.invoicesIncludingPending(),
    billable.paymentMethods(),
  ])
  return [
    ...invoices.map(({ data, paid, voided }) => ({
      section: 'invoices',
      data: {
        provider: PROVIDER_NAMES[data.provider],
        number: data.number,
        date: data.date,
        paid,
        voided,
        currency: data.currency,
        total: data.total,
        amount_due: data.amountDue,
        customer: data.customer,
        lines: data.lines,
      },
    })),
    ...methods.map((method) => ({
      section: 'payment_methods',
      data: { label: method.label(), kind: method.kind, is_default: method.isDefault },
    })),
  ]
}

/**
 * Formats an export as one JSON document, piece by piece: `{ "account": [...], "sessions": [...] }`.
 * Entries of a section must follow each other.
 */
export async function* formatExport(
  pages: AsyncIterable<readonly PersonEntry[]>,
  exportedAt: Date,
): AsyncGenerator<string> {
  let section: string | null = null
  // Sent with the first page, so that a failure to read it is a failure to begin.
  let text = `{\n  "exported_at": ${JSON.stringify(exportedAt)}`
  for await (const page of pages) {
    for (const entry of page) {
      const begins = entry.section !== section
      if (begins) {
        text += `${section === null ? '' : '\n  ]'},\n  ${JSON.stringify(entry.section)}: [`
        section = entry.section
      }
      text += `${begins ? '' : ','}\n    ${JSON.stringify(entry.data)}`
    }
    yield text
    text = ''
  }
  yield `${text}${section === null ? '' : '\n  ]'}\n}\n`
}
