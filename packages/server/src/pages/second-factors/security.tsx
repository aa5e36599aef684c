import type { Context, Hono, MiddlewareHandler } from 'hono'
import type { FC } from 'hono/jsx'
import { isFreshSignIn } from '../../admin/authorize.ts'
import type { FactorList } from '../../factors/factors.ts'
import { parsePasskeyName } from '../../factors/passkeys.ts'
import { chooseChangeDemand } from '../../factors/policy.ts'
import { RECOVERY_CODES } from '../../factors/recovery-codes.ts'
import { localPath } from '../../http/same-origin.ts'
import type { AppEnv } from '../../http/variables.ts'
import { MFA_ACR } from '../../sessions/methods.ts'
import { addToSession, endOtherSessions } from '../../sign-in/finish.ts'
import { whileSignedIn } from '../../sign-in/start-session.ts'
import { Confirmation, isCancelled } from '../parts/confirmation.tsx'
import { Submit } from '../parts/fields.tsx'
import { getSignedInUser, readCsrfForm, requireUser } from '../parts/forms.ts'
import { CsrfForm, Heading, usePage } from '../parts/layout.tsx'
import { PasskeyForm } from '../parts/passkey-form.tsx'
import { type PageOptions, renderPage } from '../parts/render.tsx'
import { Moment, Table } from '../parts/table.tsx'
import { AppFields, AppSecret, describeRefusal, PasskeyNameField } from './set-up.tsx'

const HERE = '/account/security'

/** Adds the pages on which signed-in people manage their second factors. */
export function addSecurityPages(app: Hono<AppEnv>): void {
  app.get(HERE, requireUser(), securityPage)

  app.get(`${HERE}/app`, requireUser(), requireFreshSignIn(), (c) => appPage(c))
  app.post(`${HERE}/app`, requireUser(), requireFreshSignIn(), async (c) => {
    const { service, t } = c.get('page')
    const user = getSignedInUser(c)
    const form = await readCsrfForm(c)
    const { factors } = service
    const enrolment = factors.readTotp(user, form.get('enrolment') ?? '')
    if (!enrolment) return appPage(c, { problem: t('factors.app.expired') })
    const isFirst = !(await factors.has(user.id))
    const isAdded = await service.limits.tryCode(
      'app',
      { userId: user.id, network: c.get('network') },
      () => factors.addTotp(user.id, enrolment, form.get('code') ?? '', whileSignedIn(c)),
    )
    if (!isAdded) {
      return appPage(c, { problem: t('factors.app.wrong'), sealed: enrolment.sealed })
    }
    await service.recovery.notify(user, 'sign_in_method_added', t('factors.app.title'))
    if (isFirst) await endOtherSessions(c, user.id)
    await addToSession(c, ['otp'])
    return c.redirect(pageAfterAdding(c, isFirst), 303)
  })

  app.get(`${HERE}/app/remove`, requireUser(), requireFreshSignIn(), (c) => {
    const { t } = c.get('page')
    return renderPage(
      c,
      { title: t('factors.app.remove') },
      <Confirmation
        title={t('factors.app.remove.question')}
        action={`${HERE}/app/remove`}
        fields={{}}
        cancelLabel={t('factors.keep')}
        confirmLabel={t('factors.remove')}
      >
        <p>{t('factors.remove.text')}</p>
      </Confirmation>,
    )
  })
  app.post(`${HERE}/app/remove`, requireUser(), requireFreshSignIn(), async (c) => {
    if (!isCancelled(await readCsrfForm(c))) {
      const { service, t } = c.get('page')
      const user = getSignedInUser(c)
      if (await service.factors.removeTotp(user.id)) {
        await service.recovery.notify(user, 'sign_in_method_removed', t('factors.app.title'))
      }
    }
    return c.redirect(HERE, 303)
  })

  app.get(`${HERE}/passkey`, requireUser(), requireFreshSignIn(), (c) => passkeyPage(c))
  app.post(`${HERE}/passkey`, requireUser(), requireFreshSignIn(), async (c) => {
    const { service, t } = c.get('page')
    const { factors } = service
    const user = getSignedInUser(c)
    const form = await readCsrfForm(c)
    const isFirst = !(await factors.has(user.id))
    const problem = await describeRefusal(c, () =>
      factors.addPasskey(
        user.id,
        {
          session: c.get('page').session?.sessionId ?? '',
          response: form.get('passkey') ?? '',
          name: form.get('name') ?? '',
        },
        whileSignedIn(c),
      ),
    )
    if (problem !== null) return passkeyPage(c, { problem, name: form.get('name') ?? '' })
    await service.recovery.notify(user, 'sign_in_method_added', t('factors.passkey.title'))
    if (isFirst) await endOtherSessions(c, user.id)
    await addToSession(c, ['pop', 'user'])
    return c.redirect(pageAfterAdding(c, isFirst), 303)
  })

  app.get(`${HERE}/passkey/edit`, requireUser(), requireFreshSignIn(), editPage)
  app.post(`${HERE}/passkey/edit`, requireUser(), requireFreshSignIn(), async (c) => {
    const form = await readCsrfForm(c)
    const { service, t } = c.get('page')
    const { factors } = service
    const user = getSignedInUser(c)
    const { id } = user
    const passkey = c.req.query('passkey') ?? ''
    if (form.get('decision') === 'remove') {
      if (await factors.removePasskey(id, passkey)) {
        await service.recovery.notify(user, 'sign_in_method_removed', t('factors.passkey.title'))
      }
    } else await factors.passkeys.rename(id, passkey, parsePasskeyName(form.get('name'), 'Passkey'))
    return c.redirect(HERE, 303)
  })

  app.get(`${HERE}/recovery-codes`, requireUser(), requireFreshSignIn(), (c) => {
    const { t } = c.get('page')
    return renderPage(
      c,
      { title: t('factors.codes.title') },
      <section class="card narrow">
        <h1>{t('factors.codes.title')}</h1>
        <p>{t('factors.codes.text', { count: RECOVERY_CODES })}</p>
        <CsrfForm action={withReturn(c, `${HERE}/recovery-codes`)}>
          <Submit class="primary wide">{t('factors.codes.create')}</Submit>
        </CsrfForm>
        <p class="aside">
          <a href={returnTo(c)}>{t('factors.codes.later')}</a>
        </p>
      </section>,
    )
  })
  app.post(`${HERE}/recovery-codes`, requireUser(), requireFreshSignIn(), async (c) => {
    await readCsrfForm(c)
    const { service, t } = c.get('page')
    const user = getSignedInUser(c)
    if (!(await service.factors.has(user.id))) return c.redirect(HERE, 303)
    const codes = await service.factors.renewRecoveryCodes(user.id, whileSignedIn(c))
    await service.recovery.notify(user, 'recovery_codes_created')
    return renderPage(
      c,
      { title: t('factors.codes.title') },
      <section class="card narrow">
        <h1>{t('factors.codes.save')}</h1>
        <p>{t('factors.codes.saveText')}</p>
        <ul class="recovery-codes">
          {codes.map((code) => (
            <li>
              <code>{code}</code>
            </li>
          ))}
        </ul>
        <p>
          <a class="button primary wide" href={returnTo(c)}>
            {t('factors.codes.saved')}
          </a>
        </p>
      </section>,
    )
  })
}

/** The page that people return to after setting up a factor. */
const returnTo = (c: Context<AppEnv>) => localPath(c.req.query('return_to'), HERE)

/** Adds the page to return to, if there is one, to a path. */
function withReturn(c: Context<AppEnv>, path: string): string {
  const sent = c.req.query('return_to')
  return sent === undefined ? path : `${path}?${new URLSearchParams({ return_to: sent })}`
}

/** The first factor is followed by recovery codes. */
const pageAfterAdding = (c: Context<AppEnv>, isFirst: boolean) =>
  isFirst ? withReturn(c, `${HERE}/recovery-codes`) : returnTo(c)

/**
 * Requires a recent sign-in, with the second factor if the person has one. Redirects to the sign-in
 * page otherwise.
 */
function requireFreshSignIn(): MiddlewareHandler<AppEnv> {
  return async (c, next) => {
    const { service, signedInAt, session } = c.get('page')
    const demand = chooseChangeDemand({
      isFresh: signedInAt !== null && isFreshSignIn(signedInAt, service.clock.now()),
      hasFactor: await service.factors.has(getSignedInUser(c).id),
      methods: session?.methods ?? [],
    })
    if (demand === 'none') return next()
    const { pathname, search } = new URL(c.req.url)
    const query = new URLSearchParams({
      ...(demand === 'sign-in' ? { prompt: 'login' } : { acr_values: MFA_ACR }),
      // A form that was sent is lost, so that the person sees its page again.
      return_to: pathname + search,
    })
    return c.redirect(`/login?${query}`, 303)
  }
}

async function securityPage(c: Context<AppEnv>) {
  const { service, t } = c.get('page')
  const user = getSignedInUser(c)
  const own = await service.factors.list(user.id)
  const resetAt = await service.factors.takeReset(user.id)
  const hasFactor = own.totp !== null || own.passkeys.length > 0
  const next = c.req.query('return_to') === undefined ? null : returnTo(c)
  return renderPage(
    c,
    { title: t('factors.title') },
    <>
      <Heading title={t('factors.title')} lead={t('factors.lead')} />
      {resetAt && (
        <p class="notice" role="alert">
          {t.parts('factors.wereReset', { date: <Moment at={resetAt} /> })}
        </p>
      )}
      {c.req.query('wanted') !== undefined && !hasFactor && (
        <p class="notice" role="status">
          {t('factors.wanted')}
        </p>
      )}
      {next !== null && (
        <p>
          <a class="button" href={next}>
            {t('factors.continue')}
          </a>
        </p>
      )}
      <PasskeyCard own={own} add={withReturn(c, `${HERE}/passkey`)} />
      <AppCard own={own} add={withReturn(c, `${HERE}/app`)} />
      {hasFactor && <CodesCard own={own} />}
    </>,
  )
}

interface CardProps {
  readonly own: FactorList
}

const PasskeyCard: FC<CardProps & { add: string }> = ({ own, add }) => {
  const { t, service } = usePage()
  return (
    <section class="card" aria-labelledby="passkeys-title">
      <h2 id="passkeys-title">{t('factors.passkeys')}</h2>
      <p>{t('factors.passkey.text')}</p>
      {own.passkeys.length > 0 && (
        <Table
          caption={t('factors.passkeys')}
          columns={[
            t('factors.passkey.name'),
            t('factors.added'),
            t('factors.lastUsed'),
            t('table.actions'),
          ]}
          rows={own.passkeys.map(({ id, name, createdAt, lastUsedAt }) => [
            <bdi>{name}</bdi>,
            <Moment at={createdAt} />,
            lastUsedAt ? <Moment at={lastUsedAt} /> : t('factors.unused'),
            <a
              class="button small"
              href={`${HERE}/passkey/edit?passkey=${encodeURIComponent(id)}`}
              aria-label={t('factors.editOf', { name })}
            >
              {t('factors.edit')}
            </a>,
          ])}
        />
      )}
      {service.factors.passkeys.isPossible ? (
        <p>
          <a class="button" href={add}>
            {t('factors.passkey.add')}
          </a>
        </p>
      ) : (
        <p class="hint">{t('factors.passkey.impossible')}</p>
      )}
    </section>
  )
}

const AppCard: FC<CardProps & { add: string }> = ({ own, add }) => {
  const { t } = usePage()
  const { totp } = own
  return (
    <section class="card" aria-labelledby="app-title">
      <h2 id="app-title">{t('factors.app.title')}</h2>
      {totp === null ? (
        <>
          <p>{t('factors.app.text')}</p>
          <p>
            <a class="button" href={add}>
              {t('factors.app.add')}
            </a>
          </p>
        </>
      ) : (
        <>
          <p>{t.parts('factors.app.since', { date: <Moment at={totp.createdAt} /> })}</p>
          <p>
            <a class="button danger-quiet" href={`${HERE}/app/remove`}>
              {t('factors.app.remove')}
            </a>
          </p>
        </>
      )}
    </section>
  )
}

const CodesCard: FC<CardProps> = ({ own }) => {
  const { t } = usePage()
  return (
    <section class="card" aria-labelledby="codes-title">
      <h2 id="codes-title">{t('factors.codes.title')}</h2>
      <p>{t('factors.codes.left', { count: own.recoveryCodes })}</p>
      <p>
        <a class="button" href={`${HERE}/recovery-codes`}>
          {t('factors.codes.create')}
        </a>
      </p>
    </section>
  )
}

interface AppView {
  readonly problem?: string
  /** The secret that the person has scanned already. */
  readonly sealed?: string
}

function appPage(c: Context<AppEnv>, { problem, sealed }: AppView = {}) {
  const { service, t } = c.get('page')
  const user = getSignedInUser(c)
  const enrolment = service.factors.readTotp(user, sealed ?? '') ?? service.factors.beginTotp(user)
  return renderFactorPage(
    c,
    { title: t('factors.app.title'), status: problem === undefined ? 200 : 422 },
    <>
      <AppSecret enrolment={enrolment} />
      <CsrfForm action={withReturn(c, `${HERE}/app`)}>
        <AppFields enrolment={enrolment} problem={problem ?? null} />
      </CsrfForm>
    </>,
  )
}

interface PasskeyView {
  readonly problem?: string
  readonly name?: string
}

async function passkeyPage(c: Context<AppEnv>, { problem, name }: PasskeyView = {}) {
  const { service, t, session, csrfToken } = c.get('page')
  const user = getSignedInUser(c)
  const options = await service.factors.passkeys.registration(user, session?.sessionId ?? '')
  return renderFactorPage(
    c,
    { title: t('factors.passkey.title'), status: problem === undefined ? 200 : 422 },
    <>
      <p>{t('factors.passkey.text')}</p>
      {problem !== undefined && (
        <p class="problem boxed" role="alert">
          {problem}
        </p>
      )}
      <PasskeyForm
        mode="create"
        action={withReturn(c, `${HERE}/passkey`)}
        options={options}
        label={t('factors.passkey.add')}
        class="primary wide"
      >
        <input type="hidden" name="csrf_token" value={csrfToken ?? ''} />
        <PasskeyNameField value={name ?? ''} />
      </PasskeyForm>
    </>,
  )
}

async function editPage(c: Context<AppEnv>) {
  const { service, t } = c.get('page')
  const own = await service.factors.passkeys.list(getSignedInUser(c).id)
  const passkey = own.find(({ id }) => id === c.req.query('passkey'))
  if (!passkey) return c.redirect(HERE, 303)
  return renderFactorPage(
    c,
    { title: t('factors.passkey.title') },
    <CsrfForm action={`${HERE}/passkey/edit?passkey=${encodeURIComponent(passkey.id)}`}>
      <PasskeyNameField value={passkey.name} />
      <Submit class="primary wide">{t('factors.passkey.rename')}</Submit>
      <p class="hint">{t('factors.remove.text')}</p>
      <button class="danger-quiet wide" type="submit" name="decision" value="remove">
        {t('factors.passkey.remove')}
      </button>
    </CsrfForm>,
  )
}

function renderFactorPage(
  c: Context<AppEnv>,
  options: Pick<PageOptions, 'title' | 'status'>,
  content: Parameters<typeof renderPage>[2],
) {
  const { t } = c.get('page')
  return renderPage(
    c,
    options,
    <section class="card narrow">
      <h1>{options.title}</h1>
      {content}
      <p class="aside">
        <a href={returnTo(c)}>{t('factors.back')}</a>
      </p>
    </section>,
  )
}
