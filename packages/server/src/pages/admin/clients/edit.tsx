import type { Context, Hono } from 'hono'
import type { FC } from 'hono/jsx'
import { z } from 'zod'
import type { AdminProblem } from '../../../admin/problems.ts'
import type { AppEnv, PageContext } from '../../../http/variables.ts'
import { isCancelled } from '../../parts/confirmation.tsx'
import { readCsrfForm } from '../../parts/forms.ts'
import { usePage } from '../../parts/layout.tsx'
import { FormButtons } from '../form-buttons.tsx'
import {
  AdminForm,
  performOrShowProblem,
  renderAdmin,
  requireRole,
  runOperation,
} from '../parts.tsx'
import { APPLICATIONS_PATH, type ClientJson, isManagement, pathOf } from './client.ts'
import {
  ClientFields,
  type ClientForm,
  type ForeignChange,
  listChangedFields,
  listForeignChanges,
  mergeForms,
  readClientForm,
  toClientForm,
} from './form.tsx'
import { readClientOfUrl } from './secret.tsx'

/** Adds the page that changes an application. */
export function addEditClientPage(app: Hono<AppEnv>): void {
  const path = `${APPLICATIONS_PATH}/:id/edit`
  app.get(path, requireRole('admin'), async (c) => {
    const client = await readClientOfUrl(c)
    return renderEdit(c, { client, values: toClientForm(client), before: toClientForm(client) })
  })
  app.post(path, requireRole('admin'), async (c) => {
    const form = await readCsrfForm(c)
    const id = c.req.param('id') ?? ''
    if (isCancelled(form)) return c.redirect(pathOf({ id }), 303)
    const client = await readClientOfUrl(c)
    const before = readBefore(form.get('before')) ?? toClientForm(client)
    const typed = isNameOnly(client)
      ? { ...toClientForm(client), name: readClientForm(form).name }
      : readClientForm(form)
    const change = listChangedFields(before, typed)
    if (Object.keys(change).length === 0) return c.redirect(`${pathOf({ id })}?done=same`, 303)
    return performOrShowProblem(
      c,
      async () => {
        await runOperation(c, 'clients.update', { id, ...change }, form)
        return c.redirect(`${pathOf({ id })}?done=saved`, 303)
      },
      async (problem) => {
        const version = form.get('version') ?? client.version
        if (problem.problem !== 'stale' && problem.problem !== 'conflict') {
          return renderEdit(c, { client: { ...client, version }, values: typed, before, problem })
        }
        const now = await readClientOfUrl(c)
        if (now.version === version) {
          return renderEdit(c, { client: now, values: typed, before, problem })
        }
        const present = toClientForm(now)
        return renderEdit(c, {
          client: now,
          values: mergeForms({ before, typed, now: present }),
          before: present,
          foreign: listForeignChanges(before, present, c.get('page').t),
        })
      },
    )
  })
}

const beforeShape = z.strictObject({
  name: z.string(),
  redirect_uris: z.array(z.string()),
  grants: z.array(z.string()),
  scopes: z.array(z.string()).nullable(),
  first_party: z.boolean(),
  resource_server: z.boolean(),
  links: z.strictObject({
    logo_uri: z.string(),
    client_uri: z.string(),
    policy_uri: z.string(),
    tos_uri: z.string(),
  }),
})

/** Reads the client's original values, which the form carries in a hidden field. */
function readBefore(text: string | null): ClientForm | null {
  try {
    return beforeShape.safeParse(JSON.parse(text ?? '')).data ?? null
  } catch {
    return null
  }
}

/**
 * Whether only the name can be changed. This is the case for the client of personal access tokens,
 * which belongs to the service itself.
 */
const isNameOnly = ({ grants }: ClientJson) => grants.includes('personal_access')

function findFormLimits(client: ClientJson, { service }: PageContext) {
  const isSelfRegistered =
    client.registered_by === 'registration' || client.registered_by === 'document'
  const { scopes, machineScopes } = service.oauth
  return {
    trust: !isSelfRegistered,
    nameOnly: isNameOnly(client),
    scopes: isManagement(client, service) ? machineScopes : scopes,
  }
}

interface EditView {
  readonly client: ClientJson
  readonly values: ClientForm
  /** The client's values at the time when the form was first shown. */
  readonly before: ClientForm
  readonly problem?: AdminProblem
  /** The changes of another operator, after a conflict. */
  readonly foreign?: readonly ForeignChange[]
}

function renderEdit(c: Context<AppEnv>, view: EditView) {
  const { client, values, before, problem = null, foreign = null } = view
  const page = c.get('page')
  const { t } = page
  const name = <bdi>{client.name}</bdi>
  return renderAdmin(
    c,
    { title: t('adminClients.edit'), problem, ...(foreign && { status: 412 }) },
    <section class="card form">
      <h1>{t.parts('adminClients.editTitle', { name })}</h1>
      {foreign && <ForeignChanges changes={foreign} />}
      <AdminForm action={pathOf(client, '/edit')} version={client.version}>
        <input type="hidden" name="before" value={JSON.stringify(before)} />
        <ClientFields values={values} limits={findFormLimits(client, page)} problem={problem} />
        <FormButtons action={t('clients.save')} />
      </AdminForm>
    </section>,
  )
}

const ForeignChanges: FC<{ changes: readonly ForeignChange[] }> = ({ changes }) => {
  const { t } = usePage()
  return (
    <div class="notice warning" role="alert">
      <p>{t('adminClients.stale')}</p>
      <ul>
        {changes.map(({ field, value }) => (
          <li>
            {t.parts('adminClients.staleNow', {
              field: <strong>{field}</strong>,
              value: <bdi>{value}</bdi>,
            })}
          </li>
        ))}
      </ul>
    </div>
  )
}
