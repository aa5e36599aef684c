import type { Context } from 'hono'
import type { FC } from 'hono/jsx'
import type { TeamJson } from '../../../admin/operations/teams.ts'
import { AdminProblem } from '../../../admin/problems.ts'
import type { AppEnv } from '../../../http/variables.ts'
import { TextField } from '../../parts/fields.tsx'
import { CsrfForm, usePage } from '../../parts/layout.tsx'
import type { InvoiceJson } from '../billing/owner-data.ts'
import { runOperation } from '../parts.tsx'
import type { PersonJson } from './person-data.ts'

/** The form that finds a person. It uses POST, so that no e-mail address appears in a URL. */
export const FindPerson: FC<{ value?: string; problem?: string | undefined }> = (props) => {
  const { t } = usePage()
  return (
    <section class="card stack" aria-labelledby="find-title">
      <h2 id="find-title">{t('people.find.title')}</h2>
      <CsrfForm action="/admin/people" class="row bottom find">
        <TextField
          id="person"
          label={t('people.find.label')}
          problem={props.problem}
          input={{ name: 'person', required: true, maxlength: 254, value: props.value ?? '' }}
        />
        <button type="submit">{t('people.find')}</button>
      </CsrfForm>
    </section>
  )
}

/** The people and teams that a search found. */
export interface PeopleSearchResult {
  readonly people: readonly PersonJson[]
  readonly teams: readonly TeamJson[]
}

const ID = /^[1-9]\d{0,14}$/

/** Finds people by e-mail address, id, customer id or invoice number, and teams by the latter. */
export async function findPeople(c: Context<AppEnv>, text: string): Promise<PeopleSearchResult> {
  const given = text.trim()
  const none: PeopleSearchResult = { people: [], teams: [] }
  if (given === '') return none
  if (given.includes('@')) return { ...none, people: await listPeople(c, { email: given }) }
  const byId = ID.test(given) ? await findOne<PersonJson>(c, 'users.get', given) : null
  if (byId) return { ...none, people: [byId] }
  const people = await listPeople(c, { customer: given.slice(0, 191) })
  return people.length > 0 ? { ...none, people } : findByInvoice(c, given)
}

const INVOICE = /^[\w -]{1,100}$/

async function findByInvoice(c: Context<AppEnv>, number: string): Promise<PeopleSearchResult> {
  if (!INVOICE.test(number)) return { people: [], teams: [] }
  const { data } = await runOperation<{ data: InvoiceJson[] }>(c, 'billing.findInvoices', {
    number,
  })
  const idsOf = (type: string) => [
    ...new Set(data.filter((each) => each.owner_type === type).map((each) => each.owner_id)),
  ]
  const [people, teams] = await Promise.all([
    Promise.all(idsOf('user').map((id) => findOne<PersonJson>(c, 'users.get', id))),
    Promise.all(idsOf('team').map((id) => findOne<TeamJson>(c, 'teams.get', id))),
  ])
  return {
    people: people.filter((each) => each !== null),
    teams: teams.filter((each) => each !== null),
  }
}

/** Reads a person or a team. `null` if it was deleted. */
async function findOne<Output>(
  c: Context<AppEnv>,
  operation: string,
  id: string,
): Promise<Output | null> {
  try {
    return await runOperation<Output>(c, operation, { id })
  } catch (error) {
    if (error instanceof AdminProblem && error.problem === 'not-found') return null
    throw error
  }
}

async function listPeople(c: Context<AppEnv>, filter: Readonly<Record<string, string>>) {
  const { data } = await runOperation<{ data: PersonJson[] }>(c, 'users.list', filter)
  return data
}
