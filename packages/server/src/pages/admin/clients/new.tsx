import type { Context, Hono } from 'hono'
import type { FC } from 'hono/jsx'
import type { AdminProblem } from '../../../admin/problems.ts'
import type { AppEnv } from '../../../http/variables.ts'
import { isCancelled } from '../../parts/confirmation.tsx'
import { Choice, Problem, TextField } from '../../parts/fields.tsx'
import { readCsrfForm } from '../../parts/forms.ts'
import { usePage } from '../../parts/layout.tsx'
import { FormButtons } from '../form-buttons.tsx'
import {
  AdminForm,
  fieldProblems,
  performOrShowProblem,
  renderAdmin,
  renderConfirmation,
  requireRole,
  runOperation,
} from '../parts.tsx'
import { APPLICATIONS_PATH, type ClientWithSecret, pathOf } from './client.ts'
import { ClientFields, type ClientForm, NEW_CLIENT, readClientForm } from './form.tsx'
import { renderSecret } from './secret.tsx'

/** Adds the pages that register an application, or a client of the management API. */
export function addNewClientPages(app: Hono<AppEnv>): void {
  app.get(`${APPLICATIONS_PATH}/new`, requireRole('admin'), (c) =>
    renderNew(c, { values: NEW_CLIENT, confidential: true, problem: null }),
  )
  app.post(`${APPLICATIONS_PATH}/new`, requireRole('admin'), async (c) => {
    const form = await readCsrfForm(c)
    if (isCancelled(form)) return c.redirect(APPLICATIONS_PATH, 303)
    const values = readClientForm(form)
    const confidential = form.get('confidential') !== 'false'
    return performOrShowProblem(
      c,
      async () => {
        const { links, scopes, ...fields } = values
        const settings = Object.entries(links).filter(([, value]) => value !== '')
        const input = {
          ...fields,
          confidential,
          ...(scopes !== null && { scopes }),
          ...(settings.length > 0 && { settings: Object.fromEntries(settings) }),
        }
        const made = await runOperation<ClientWithSecret>(c, 'clients.create', input, form)
        if (!confidential) return c.redirect(`${pathOf(made)}?done=created`, 303)
        return renderSecret(c, made)
      },
      (problem) => renderNew(c, { values, confidential, problem }),
    )
  })

  app.get(`${APPLICATIONS_PATH}/new-management`, requireRole('owner'), (c) =>
    renderNewManagement(c, { name: '', scopes: [], problem: null }),
  )
  app.post(`${APPLICATIONS_PATH}/new-management`, requireRole('owner'), async (c) => {
    const form = await readCsrfForm(c)
    if (isCancelled(form)) return c.redirect(APPLICATIONS_PATH, 303)
    const input = { name: (form.get('name') ?? '').trim(), scopes: form.getAll('scopes') }
    return performOrShowProblem(
      c,
      async () =>
        renderSecret(
          c,
          await runOperation<ClientWithSecret>(c, 'clients.createForManagement', input, form),
        ),
      (problem) => renderNewManagement(c, { ...input, problem }),
    )
  })
}

interface NewView {
  readonly values: ClientForm
  readonly confidential: boolean
  readonly problem: AdminProblem | null
}

function renderNew(c: Context<AppEnv>, { values, confidential, problem }: NewView) {
  const { t, service } = c.get('page')
  return renderAdmin(
    c,
    { title: t('adminClients.new'), problem },
    <section class="card form">
      <h1>{t('adminClients.new')}</h1>
      <AdminForm action={`${APPLICATIONS_PATH}/new`}>
        <ClientFields
          values={values}
          limits={{ trust: true, nameOnly: false, scopes: service.oauth.scopes }}
          problem={problem}
        >
          <Where confidential={confidential} />
        </ClientFields>
        <FormButtons action={t('adminClients.create')} />
      </AdminForm>
    </section>,
  )
}

const Where: FC<{ confidential: boolean }> = ({ confidential }) => {
  const { t } = usePage()
  return (
    <fieldset>
      <legend>{t('adminClients.where')}</legend>
      <Choice
        id="confidential"
        type="radio"
        name="confidential"
        value="true"
        title={t('clients.server')}
        description={t('clients.serverText')}
        checked={confidential}
      />
      <Choice
        id="public"
        type="radio"
        name="confidential"
        value="false"
        title={t('clients.browser')}
        description={t('clients.browserText')}
        checked={!confidential}
      />
    </fieldset>
  )
}

interface NewManagementView {
  readonly name: string
  readonly scopes: readonly string[]
  readonly problem: AdminProblem | null
}

function renderNewManagement(c: Context<AppEnv>, { name, scopes, problem }: NewManagementView) {
  const { t, service } = c.get('page')
  const problems = fieldProblems(problem)
  return renderConfirmation(c, {
    title: t('adminClients.newManagement'),
    question: t('adminClients.management.question'),
    operation: 'clients.createForManagement',
    confirmLabel: t('adminClients.management.go'),
    problem,
    children: (
      <>
        <p>{t('adminClients.management.text')}</p>
        <TextField
          id="name"
          label={t('adminClients.name')}
          problem={problems.name}
          input={{ name: 'name', value: name, maxlength: 191, required: true }}
        />
        <fieldset aria-describedby="scopes-problem">
          <legend>{t('adminClients.scopes')}</legend>
          {Object.keys(service.oauth.machineScopes).map((scope, at) => (
            <Choice
              id={`scope-${at}`}
              type="checkbox"
              name="scopes"
              value={scope}
              title={<span lang="en">{service.oauth.machineScopes[scope]}</span>}
              description={scope}
              checked={scopes.includes(scope)}
            />
          ))}
          <Problem id="scopes" text={problems.scopes} />
        </fieldset>
      </>
    ),
  })
}
