import type { Context } from 'hono'
import type { OperatorActor } from '../../../admin/audit/caller.ts'
import type {
  ApplicationJson,
  FactorsJson,
  LinkJson,
  SessionJson,
  TokenJson,
} from '../../../admin/operations/access.ts'
import type { CreditNoteJson } from '../../../admin/operations/credit-notes.ts'
import type { DisputeJson } from '../../../admin/operations/disputes.ts'
import type { InvoiceDetailJson, InvoiceJson } from '../../../admin/operations/invoices.ts'
import type { SubscriptionJson, UsageJson } from '../../../admin/operations/subscriptions.ts'
import type { AddressJson, TaxIdJson } from '../../../admin/operations/taxes.ts'
import type { EventJson } from '../../../admin/operations/timeline.ts'
import type { accountJson } from '../../../admin/operations/users.ts'
import { AdminProblem, notFound } from '../../../admin/problems.ts'
import type { AppEnv } from '../../../http/variables.ts'
import type { SubscriptionFact } from '../../../users/account-billing.ts'
import { readAccountSubscriptions } from '../../../users/end-account.ts'
import { outranks } from '../../../users/roles.ts'
import { runOperation } from '../parts.tsx'

export type { EventJson, InvoiceDetailJson, InvoiceJson, SubscriptionJson }

/** The output of `billing.getCustomer`. */
export interface CustomerJson {
  readonly provider: string | null
  readonly customer: string | null
  readonly balance: { readonly amount: number; readonly currency: string } | null
  readonly free_until: string | null
  readonly tax_exempt: 'none' | 'exempt' | 'reverse' | null
  readonly address: AddressJson | null
  readonly supports: readonly string[]
}

/** A person as the operations return them. */
export type PersonJson = ReturnType<typeof accountJson>

/** A page of a list. */
export interface ListPage<Entry> {
  readonly data: readonly Entry[]
  readonly next: string | null
}

/** Everything that the page of a person shows. */
export interface PersonData {
  readonly person: PersonJson
  readonly factors: FactorsJson
  readonly sessions: readonly SessionJson[]
  readonly links: readonly LinkJson[]
  readonly applications: readonly ApplicationJson[]
  readonly tokens: readonly TokenJson[]
  readonly subscriptions: readonly SubscriptionJson[]
  readonly timeline: ListPage<EventJson>
  /** The customer at the provider. `null` if the provider does not answer. */
  readonly customer: CustomerJson | null
  /** The tax ids at the provider. `null` if the provider does not answer. */
  readonly taxIds: readonly TaxIdJson[] | null
  /** The credit notes at the provider. `null` if the provider does not answer. */
  readonly creditNotes: readonly CreditNoteJson[] | null
  /** The newest disputes of the person's payments. */
  readonly disputes: readonly DisputeJson[]
  /** The newest invoices at the provider. `null` if the provider does not answer. */
  readonly invoices: ListPage<InvoiceJson> | null
  /** The usage of the running subscriptions. `null` if the provider does not answer. */
  readonly usage: readonly UsageJson[] | null
}

/** Properties of each section of the page. */
export interface PersonSectionProps {
  readonly data: PersonData
  /** Whether the operator may call an operation on this person. */
  readonly can: (operation: string) => boolean
}

/**
 * Reads a person.
 * @throws AdminProblem `not-found`
 */
export function readPerson(c: Context<AppEnv>, id: string): Promise<PersonJson> {
  return runOperation<PersonJson>(c, 'users.get', { id })
}

const NOTHING = { data: [], next: null }
/** Number of entries of each list on a person's page. A page of its own shows the whole list. */
const SHOWN = 10

/** Reads a person, with all data that the page shows. */
export async function readPersonData(c: Context<AppEnv>, id: string): Promise<PersonData> {
  const person = await readPerson(c, id)
  const list = async <Entry>(name: string) =>
    (await runOperation<{ data: readonly Entry[] }>(c, name, { id })).data
  const isCustomer = person.provider !== null
  const [
    factors,
    sessions,
    links,
    applications,
    tokens,
    subscriptions,
    timeline,
    customer,
    invoices,
    taxIds,
    creditNotes,
    usage,
  ] = await Promise.all([
    runOperation<FactorsJson>(c, 'users.getFactors', { id }),
    list<SessionJson>('users.listSessions'),
    list<LinkJson>('users.listLinks'),
    list<ApplicationJson>('users.listApplications'),
    list<TokenJson>('users.listTokens'),
    list<SubscriptionJson>('billing.listSubscriptionsOf'),
    readTimeline(c, id, { limit: SHOWN }),
    nullIfProviderAway(() => runOperation<CustomerJson>(c, 'billing.getCustomer', { id })),
    isCustomer ? nullIfProviderAway(() => readInvoices(c, id, { limit: SHOWN })) : NOTHING,
    isCustomer ? nullIfProviderAway(() => list<TaxIdJson>('billing.listTaxIds')) : [],
    isCustomer ? nullIfProviderAway(() => list<CreditNoteJson>('billing.listCreditNotes')) : [],
    isCustomer ? nullIfProviderAway(() => list<UsageJson>('billing.listUsage')) : [],
  ])
  const { data: disputes } = isCustomer ? await readDisputes(c, id) : NOTHING
  const access = { factors, sessions, links, applications, tokens }
  const documents = { invoices, creditNotes, disputes, taxIds }
  return { person, ...access, subscriptions, timeline, customer, usage, ...documents }
}

/** Which part of a list to read. */
interface ListRange {
  readonly after?: string
  readonly limit: number
}

export function readTimeline(c: Context<AppEnv>, id: string, from: ListRange) {
  return runOperation<ListPage<EventJson>>(c, 'users.listTimeline', { id, ...from })
}

function readDisputes(c: Context<AppEnv>, id: string) {
  const input = { user_id: id, limit: SHOWN }
  return runOperation<ListPage<DisputeJson>>(c, 'billing.listDisputes', input)
}

export function readInvoices(c: Context<AppEnv>, id: string, from: ListRange) {
  return runOperation<ListPage<InvoiceJson>>(c, 'billing.listInvoices', { id, ...from })
}

/**
 * Returns `null` if the provider does not answer, because the rest of the page works without it.
 */
async function nullIfProviderAway<Result>(read: () => Promise<Result>): Promise<Result | null> {
  try {
    return await read()
  } catch (error) {
    const isAway =
      error instanceof AdminProblem &&
      ['provider-unavailable', 'provider-refused'].includes(error.problem)
    if (isAway) return null
    throw error
  }
}

/**
 * Reads a subscription of a person.
 * @throws AdminProblem `not-found`
 */
export async function readSubscription(
  c: Context<AppEnv>,
  id: string,
  subscription: string,
): Promise<SubscriptionJson> {
  const name = 'billing.listSubscriptionsOf'
  const { data } = await runOperation<{ data: readonly SubscriptionJson[] }>(c, name, { id })
  const found = data.find((each) => String(each.id) === subscription)
  if (!found) throw notFound('subscription', subscription)
  return found
}

/** Reads the subscriptions from our tables. */
export async function readSubscriptionDetails(
  c: Context<AppEnv>,
  id: string,
): Promise<readonly SubscriptionFact[]> {
  const { users, admin } = c.get('page').service
  const account = await users.findAccount(id)
  return account ? readAccountSubscriptions(admin.billing, account) : []
}

/** Returns why an operator cannot act on a person. `null` if the operator can. */
export function findActionObstacle(
  { id, role }: OperatorActor,
  person: PersonJson,
): 'people.own' | 'people.outranked' | null {
  if (id === person.id) return 'people.own'
  return outranks(role, person.role) ? null : 'people.outranked'
}
