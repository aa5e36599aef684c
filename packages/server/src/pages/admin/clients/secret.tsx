import type { Context, Hono } from 'hono'
import type { AdminProblem } from '../../../admin/problems.ts'
import type { AppEnv } from '../../../http/variables.ts'
import { isCancelled } from '../../parts/confirmation.tsx'
import { TextField } from '../../parts/fields.tsx'
import { readCsrfForm } from '../../parts/forms.ts'
import { Fact, Moment } from '../../parts/table.tsx'
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
import { APPLICATIONS_PATH, type ClientJson, type ClientWithSecret, pathOf } from './client.ts'

const DEFAULT_OVERLAP = '24'

/** Adds the pages that replace the secret of an application: as planned, or because it leaked. */
export function addSecretPages(app: Hono<AppEnv>): void {
  const page = (action: string) => `${APPLICATIONS_PATH}/:id/${action}`
  const admin = requireRole('admin')

  app.get(page('rotate-secret'), admin, async (c) =>
    renderRotation(c, await readClientOfUrl(c), { hours: DEFAULT_OVERLAP, problem: null }),
  )
  app.post(page('rotate-secret'), admin, async (c) => {
    const form = await readCsrfForm(c)
    const id = c.req.param('id') ?? ''
    if (isCancelled(form)) return c.redirect(pathOf({ id }), 303)
    const hours = form.get('hours') ?? ''
    const input = { id, overlap_hours: Number(hours) }
    return performOrShowProblem(
      c,
      async () =>
        renderSecret(
          c,
          await runOperation<ClientWithSecret>(c, 'clients.rotateSecret', input, form),
        ),
      async (problem) => renderRotation(c, await readClientOfUrl(c), { hours, problem }),
    )
  })

  app.get(page('replace-leaked-secret'), admin, async (c) =>
    renderLeak(c, await readClientOfUrl(c), null),
  )
  app.post(page('replace-leaked-secret'), admin, async (c) => {
    const form = await readCsrfForm(c)
    const id = c.req.param('id') ?? ''
    if (isCancelled(form)) return c.redirect(pathOf({ id }), 303)
    return performOrShowProblem(
      c,
      async () =>
        renderSecret(
          c,
          await runOperation<ClientWithSecret>(c, 'clients.replaceLeakedSecret', { id }, form),
        ),
      async (problem) => renderLeak(c, await readClientOfUrl(c), problem),
    )
  })

  app.get(page('end-previous-secret'), admin, async (c) =>
    renderEnd(c, await readClientOfUrl(c), null),
  )
  app.post(page('end-previous-secret'), admin, async (c) => {
    const form = await readCsrfForm(c)
    const id = c.req.param('id') ?? ''
    if (isCancelled(form)) return c.redirect(pathOf({ id }), 303)
    return performOrShowProblem(
      c,
      async () => {
        await runOperation(c, 'clients.endPreviousSecret', { id }, form)
        return c.redirect(`${pathOf({ id })}?done=ended`, 303)
      },
      async (problem) => renderEnd(c, await readClientOfUrl(c), problem),
    )
  })
}

/** Reads the client whose id is in the URL. */
export function readClientOfUrl(c: Context<AppEnv>): Promise<ClientJson> {
  return runOperation<ClientJson>(c, 'clients.get', { id: c.req.param('id') ?? '' })
}

interface RotationView {
  readonly hours: string
  readonly problem: AdminProblem | null
}

function renderRotation(c: Context<AppEnv>, client: ClientJson, { hours, problem }: RotationView) {
  const { t } = c.get('page')
  const { previous_secret_until: until } = client
  return renderAdmin(
    c,
    { title: t('adminClients.rotate'), problem },
    <section class="card narrow">
      <h1>{t.parts('adminClients.rotate.title', { name: <bdi>{client.name}</bdi> })}</h1>
      <AdminForm action={pathOf(client, '/rotate-secret')}>
        <p>{t('adminClients.rotate.text')}</p>
        {until !== null && (
          <p class="notice warning">
            {t.parts('adminClients.rotate.again', { moment: <Moment at={new Date(until)} /> })}
          </p>
        )}
        <TextField
          id="hours"
          label={t('adminClients.rotate.hours')}
          hint={t('adminClients.rotate.hoursHint')}
          problem={fieldProblems(problem).overlap_hours}
          input={{
            type: 'number',
            name: 'hours',
            value: hours,
            min: 1,
            max: 720,
            required: true,
          }}
        />
        <FormButtons action={t('adminClients.rotate.go')} />
      </AdminForm>
    </section>,
  )
}

function renderLeak(c: Context<AppEnv>, client: ClientJson, problem: AdminProblem | null) {
  const { t } = c.get('page')
  return renderConfirmation(c, {
    title: t('adminClients.leaked'),
    question: t.parts('adminClients.leaked.question', { name: <bdi>{client.name}</bdi> }),
    operation: 'clients.replaceLeakedSecret',
    confirmLabel: t('adminClients.leaked.go'),
    problem,
    children: <p>{t('adminClients.leaked.text')}</p>,
  })
}

function renderEnd(c: Context<AppEnv>, client: ClientJson, problem: AdminProblem | null) {
  const { t } = c.get('page')
  return renderConfirmation(c, {
    title: t('adminClients.end'),
    question: t.parts('adminClients.end.question', { name: <bdi>{client.name}</bdi> }),
    operation: 'clients.endPreviousSecret',
    confirmLabel: t('adminClients.end.go'),
    problem,
    children: <p>{t('adminClients.end.text')}</p>,
  })
}

/**
 * Renders a new secret, only in the response to the form. If the form is sent again or the page is
 * reloaded, the page says that the secret cannot be shown again.
 */
export function renderSecret(c: Context<AppEnv>, client: ClientWithSecret) {
  const { t } = c.get('page')
  const { secret, previous_secret_until: until } = client
  return renderAdmin(
    c,
    { title: t('clients.secretTitle') },
    <section class="card narrow">
      <h1>{t.parts('adminClients.newSecret.title', { name: <bdi>{client.name}</bdi> })}</h1>
      {secret === null ? (
        <p role="status">{t('adminClients.newSecret.gone')}</p>
      ) : (
        <>
          <p>{t('adminClients.newSecret.text')}</p>
          <dl class="facts">
            <Fact term={t('clients.id')}>
              <code>{client.id}</code>
            </Fact>
          </dl>
          <label for="secret-value">{t('adminClients.newSecret.label')}</label>
          <textarea id="secret-value" class="code" rows={3} readonly spellcheck={false}>
            {secret}
          </textarea>
          {until !== null && (
            <p>
              {t.parts('adminClients.newSecret.until', { moment: <Moment at={new Date(until)} /> })}
            </p>
          )}
        </>
      )}
      <div class="buttons">
        {secret !== null && (
          <button type="button" data-scripted hidden data-copy="#secret-value">
            {t('dialog.copy')}
          </button>
        )}
        <a class="button primary" href={pathOf(client)}>
          {t('adminClients.newSecret.done')}
        </a>
      </div>
    </section>,
  )
}
