import type { Context } from 'hono'
import type { FC } from 'hono/jsx'
import { AdminProblem } from '../../../admin/problems.ts'
import type { AppEnv } from '../../../http/variables.ts'
import { TextField } from '../../parts/fields.tsx'
import { OwnForm, usePage } from '../../parts/layout.tsx'
import { runOperation } from '../parts.tsx'
import type { InvoiceJson, PersonJson } from './person-data.ts'

/** The form that finds a person. It uses POST, so that no e-mail address appears in a URL. */
export const FindPerson: FC<{ value?: string; problem?: string | undefined }> = (props) => {
  const { t } = usePage()
  return (
    <section class="card stack" aria-labelledby="find-title">
      <h2 id="find-title">{t('people.find.title')}</h2>
      <OwnForm action="/admin/people" class="row bottom find">
        <TextField
          id="person"
          label={t('people.find.label')}
          problem={props.problem}
          input={{ name: 'person', required: true, maxlength: 254, value: props.value ?? '' }}
        />
        <button type="submit">{t('people.find')}</button>
      </OwnForm>
    </section>
  )
}

const ID = /^[1-9]\d{0,14}$/

/** Finds people by e-mail address, id, the provider's customer id, or invoice number. */
export async function findPeople(c: Context<AppEnv>, text: string): Promise<PersonJson[]> {
  const given = text.trim()
  if (given === '') return []
  if (given.includes('@')) return listPeople(c, { email: given })
  const byId = ID.test(given) ? await findPerson(c, given) : null
  if (byId) return [byId]
  const customers = await listPeople(c, { customer: given.slice(0, 191) })
  return customers.length > 0 ? customers : findByInvoice(c, given)
}

const INVOICE = /^[\w -]{1,100}$/

async function findByInvoice(c: Context<AppEnv>, number: string): Promise<PersonJson[]> {
  if (!INVOICE.test(number)) return []
  const { data } = await runOperation<{ data: InvoiceJson[] }>(c, 'billing.findInvoices', {
    number,
  })
  const ids = [...new Set(data.map(({ user_id }) => user_id))]
  const found = await Promise.all(ids.map((id) => findPerson(c, id)))
  return found.filter((person) => person !== null)
}

async function findPerson(c: Context<AppEnv>, id: string): Promise<PersonJson | null> {
  try {
    return await runOperation<PersonJson>(c, 'users.get', { id })
  } catch (error) {
    if (error instanceof AdminProblem && error.problem === 'not-found') return null
    throw error
  }
}

async function listPeople(c: Context<AppEnv>, filter: Readonly<Record<string, string>>) {
  const { data } = await runOperation<{ data: PersonJson[] }>(c, 'users.list', filter)
  return data
}
