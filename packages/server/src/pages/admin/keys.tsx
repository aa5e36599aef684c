import type { Context, Hono } from 'hono'
import type { FC } from 'hono/jsx'
import type { AdminProblem } from '../../admin/problems.ts'
import type { AppEnv } from '../../http/variables.ts'
import { isCancelled } from '../parts/confirmation.tsx'
import { Choice } from '../parts/fields.tsx'
import { readCsrfForm } from '../parts/forms.ts'
import { Heading, usePage } from '../parts/layout.tsx'
import { Moment, Table } from '../parts/table.tsx'
import { FormButtons } from './form-buttons.tsx'
import {
  AdminForm,
  getOperator,
  mayCall,
  performOrShowProblem,
  renderAdmin,
  renderConfirmation,
  requireRole,
  runOperation,
} from './parts.tsx'

const BASE = '/admin/keys'

interface KeyJson {
  readonly kid: string
  readonly algorithm: string
  readonly active_from: string
}

type KeyState = 'future' | 'current' | 'former'

/** A signing key, and whether it signs now. */
interface ShownKey extends KeyJson {
  readonly state: KeyState
}

const NOTICES = { created: 'adminKeys.wasCreated', revoked: 'adminKeys.wasRevoked' } as const

/** Adds the pages of signing keys. */
export function addKeyPages(app: Hono<AppEnv>): void {
  app.get(BASE, requireRole('viewer'), async (c) => {
    const { t } = c.get('page')
    const operator = getOperator(c)
    const done = c.req.query('done') ?? ''
    const notice = Object.hasOwn(NOTICES, done) ? NOTICES[done as keyof typeof NOTICES] : null
    return renderAdmin(
      c,
      { title: t('admin.keys'), ...(notice && { notice: t(notice) }) },
      <>
        <Heading title={t('admin.keys')} lead={t('adminKeys.lead')}>
          {mayCall(operator, 'keys.rotate') && (
            <a class="button primary" href={`${BASE}/rotate`}>
              {t('adminKeys.rotate')}
            </a>
          )}
        </Heading>
        <section class="card" aria-label={t('admin.keys')}>
          <KeyTable keys={await listKeys(c)} mayRevoke={mayCall(operator, 'keys.revoke')} />
        </section>
      </>,
    )
  })

  app.get(`${BASE}/rotate`, requireRole('admin'), (c) => renderRotation(c, null))
  app.post(`${BASE}/rotate`, requireRole('admin'), async (c) => {
    const form = await readCsrfForm(c)
    if (isCancelled(form)) return c.redirect(BASE, 303)
    return performOrShowProblem(
      c,
      async () => {
        const input = { immediately: form.get('when') === 'now' }
        await runOperation(c, 'keys.rotate', input, form)
        return c.redirect(`${BASE}?done=created`, 303)
      },
      (problem) => renderRotation(c, problem),
    )
  })

  app.get(`${BASE}/:kid/revoke`, requireRole('owner'), (c) =>
    renderRevocation(c, c.req.param('kid'), null),
  )
  app.post(`${BASE}/:kid/revoke`, requireRole('owner'), async (c) => {
    const form = await readCsrfForm(c)
    if (isCancelled(form)) return c.redirect(BASE, 303)
    const kid = c.req.param('kid')
    return performOrShowProblem(
      c,
      async () => {
        await runOperation(c, 'keys.revoke', { kid }, form)
        return c.redirect(`${BASE}?done=revoked`, 303)
      },
      (problem) => renderRevocation(c, kid, problem),
    )
  })
}

/**
 * Lists the keys. The keys that become active last come first. For each algorithm, the newest
 * active key signs.
 */
async function listKeys(c: Context<AppEnv>): Promise<ShownKey[]> {
  const { data } = await runOperation<{ data: readonly KeyJson[] }>(c, 'keys.list', {})
  const now = c.get('page').service.clock.now()
  const keys = [...data].sort((a, b) => b.active_from.localeCompare(a.active_from))
  const signing = new Set<string>()
  return keys.map((key) => {
    if (new Date(key.active_from) > now) return { ...key, state: 'future' }
    if (signing.has(key.algorithm)) return { ...key, state: 'former' }
    signing.add(key.algorithm)
    return { ...key, state: 'current' }
  })
}

const KeyTable: FC<{ keys: readonly ShownKey[]; mayRevoke: boolean }> = ({ keys, mayRevoke }) => {
  const { t } = usePage()
  return (
    <Table
      caption={t('admin.keys')}
      columns={[
        t('adminKeys.kid'),
        t('adminKeys.algorithm'),
        t('adminKeys.state'),
        t('adminKeys.from'),
        ...(mayRevoke ? [t('table.actions')] : []),
      ]}
      rows={keys.map(({ kid, algorithm, state, active_from: from }) => [
        <code>{kid}</code>,
        algorithm,
        <span class={state === 'current' ? 'badge good' : undefined}>
          {t(`adminKeys.state.${state}`)}
        </span>,
        <Moment at={new Date(from)} />,
        ...(mayRevoke
          ? [
              <a
                class="button small danger-quiet"
                href={`${BASE}/${encodeURIComponent(kid)}/revoke`}
                aria-label={t('adminKeys.revokeName', { kid })}
              >
                {t('adminKeys.revoke')}
              </a>,
            ]
          : []),
      ])}
    />
  )
}

function renderRotation(c: Context<AppEnv>, problem: AdminProblem | null) {
  const { t } = c.get('page')
  return renderAdmin(
    c,
    { title: t('adminKeys.rotate'), problem },
    <section class="card narrow">
      <h1>{t('adminKeys.rotate')}</h1>
      <AdminForm action={`${BASE}/rotate`}>
        <p>{t('adminKeys.rotate.text')}</p>
        <fieldset>
          <legend>{t('adminKeys.rotate.when')}</legend>
          <Choice
            id="when-later"
            type="radio"
            name="when"
            value="later"
            title={t('adminKeys.rotate.later')}
            description={t('adminKeys.rotate.laterText')}
            checked
          />
          <Choice
            id="when-now"
            type="radio"
            name="when"
            value="now"
            title={t('adminKeys.rotate.now')}
            description={t('adminKeys.rotate.nowText')}
          />
        </fieldset>
        <FormButtons action={t('adminKeys.rotate.go')} />
      </AdminForm>
    </section>,
  )
}

async function renderRevocation(c: Context<AppEnv>, kid: string, problem: AdminProblem | null) {
  const { t } = c.get('page')
  const key = (await listKeys(c)).find((each) => each.kid === kid)
  if (!key) return c.redirect(BASE, 303)
  return renderConfirmation(c, {
    title: t('adminKeys.revoke.title'),
    question: t.parts('adminKeys.revoke.question', { kid: <code>{kid}</code> }),
    operation: 'keys.revoke',
    confirmLabel: t('adminKeys.revoke.go'),
    problem,
    children: (
      <>
        <p>{t('adminKeys.revoke.text')}</p>
        {key.state === 'current' && <p>{t('adminKeys.revoke.current')}</p>}
      </>
    ),
  })
}
