import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Context, MiddlewareHandler } from 'hono'
import type { Child, FC, JSX } from 'hono/jsx'
import type { Caller, OperatorActor } from '../../admin/audit/caller.ts'
import { isFreshSignIn, needsFreshSignIn } from '../../admin/authorize.ts'
import { execute } from '../../admin/execute.ts'
import { OPERATIONS, requireOperation } from '../../admin/operations/all.ts'
import { AdminProblem } from '../../admin/problems.ts'
import { isRequired } from '../../factors/policy.ts'
import type { AppEnv } from '../../http/variables.ts'
import { redactText } from '../../logger.ts'
import type { PageText } from '../../messages/messages.ts'
import type { ProblemName } from '../../service-error.ts'
import { MFA_ACR } from '../../sessions/methods.ts'
import { AccountUnfinished } from '../../users/end-account.ts'
import { hasRole, type Role } from '../../users/roles.ts'
import { assetUrl } from '../parts/assets.ts'
import { Refusal } from '../parts/fields.tsx'
import { requireUser } from '../parts/forms.ts'
import { CsrfForm, usePage } from '../parts/layout.tsx'
import { errorPage, type PageOptions, renderPage } from '../parts/render.tsx'

/**
 * Requires a signed-in operator with at least this role. People without a role get a 404; operators
 * with a lower role get a page that names the required one.
 */
export function requireRole(role: Role): MiddlewareHandler<AppEnv> {
  const signedIn = requireUser()
  return async (c, next) => {
    const { user } = c.get('page')
    if (!user) return signedIn(c, next)
    if (lacksSecondFactor(c)) return c.redirect(addSecondFactorUrl(c), 303)
    if (hasRole(user.role, role)) return next()
    if (user.role === null) return c.notFound()
    return renderForbidden(c, role)
  }
}

/** Whether the operator has to add a second factor to the session first. */
function lacksSecondFactor(c: Context<AppEnv>): boolean {
  const { user, session, service } = c.get('page')
  const { secondFactor } = service.config.settings
  return (
    user?.role != null && isRequired(secondFactor, user.role) && !session?.methods.includes('mfa')
  )
}

/** Returns the URL that asks for the second factor, and then returns to the page. */
function addSecondFactorUrl(c: Context<AppEnv>): string {
  const { pathname, search } = new URL(c.req.url)
  const query = { acr_values: MFA_ACR, return_to: pathname + search }
  return `/login?${new URLSearchParams(query)}`
}

function renderForbidden(c: Context<AppEnv>, role: Role) {
  const { t } = c.get('page')
  return renderAdmin(
    c,
    { title: t('admin.problem.title'), status: 403 },
    <section class="card narrow">
      <h1>{t('admin.problem.title')}</h1>
      <p role="alert">{t('admin.needsRole', { role: describeRole(role, t) })}</p>
    </section>,
  )
}

/** Returns the signed-in operator, in handlers behind `requireRole()`. */
export function getOperator(c: Context<AppEnv>): OperatorActor {
  const { user, signedInAt } = c.get('page')
  if (!user || user.role === null || signedInAt === null) {
    throw new Error('This page must be registered behind requireRole()')
  }
  const { id, email, role } = user
  return { kind: 'operator', id, email, role, signedInAt }
}

/** Returns the signed-in operator as the caller of an operation. */
export function getAdminCaller(c: Context<AppEnv>): Caller {
  return {
    actor: getOperator(c),
    door: 'page',
    address: c.get('address'),
    requestId: c.get('requestId'),
  }
}

/** Hidden fields of `AdminForm`. */
const FIELDS = { key: 'request_key', version: 'version' } as const
const KEY = /^[\w-]{22}$/

/**
 * How often, and for how many milliseconds each time, the second of two identical requests waits
 * for the first.
 */
const DOUBLE_CLICK = { attempts: 40, pause: 250 }

/**
 * Performs an operation for the signed-in operator. A posted `AdminForm` makes sure that it is
 * performed once, however often the form is sent, and only if the object still has the version for
 * which the form was filled in.
 * @throws AdminProblem
 */
export async function runOperation<Output>(
  c: Context<AppEnv>,
  name: string,
  input: Readonly<Record<string, unknown>>,
  form?: URLSearchParams,
): Promise<Output> {
  const key = form?.get(FIELDS.key) ?? null
  const call = {
    caller: getAdminCaller(c),
    input,
    idempotencyKey: key !== null && KEY.test(key) ? key : null,
    ifMatch: form?.get(FIELDS.version) ?? null,
  }
  const { admin } = c.get('page').service
  for (let attempt = 1; ; attempt++) {
    try {
      return (await execute(requireOperation(name), call, admin)) as Output
    } catch (error) {
      // After a double click, browsers show the response to the second request.
      const isRunning = error instanceof AdminProblem && error.problem === 'request-in-progress'
      if (!isRunning || attempt === DOUBLE_CLICK.attempts) throw error
      await sleep(DOUBLE_CLICK.pause)
    }
  }
}

/** Whether an operation exists and the operator's role allows it. */
export function mayCall({ role }: { readonly role: Role | null }, name: string): boolean {
  const operation = OPERATIONS.find((each) => each.name === name)
  return operation !== undefined && hasRole(role, operation.role)
}

/** The pages of the operators' area, each with the operation that it requires. */
const PLACES = [
  { name: 'overview', path: '/admin', needs: null },
  { name: 'people', path: '/admin/people', needs: 'users.list' },
  { name: 'teams', path: '/admin/teams', needs: 'teams.list' },
  { name: 'disputes', path: '/admin/disputes', needs: 'billing.listDisputes' },
  { name: 'clients', path: '/admin/applications', needs: 'clients.list' },
  { name: 'plans', path: '/admin/plans', needs: 'billing.listPlans' },
  { name: 'webhooks', path: '/admin/webhooks', needs: 'webhooks.list' },
  { name: 'mail', path: '/admin/mail', needs: 'mail.list' },
  { name: 'keys', path: '/admin/keys', needs: 'keys.list' },
  { name: 'audit', path: '/admin/audit', needs: 'audit.list' },
  { name: 'settings', path: '/admin/settings', needs: 'settings.get' },
] as const

const SubNavigation: FC = () => {
  const { path, t, user } = usePage()
  const role = user?.role ?? null
  const isWithin = (place: string) => place !== '/admin' && path.startsWith(`${place}/`)
  return (
    <nav class="places within" aria-label={t('admin.area')}>
      <ul>
        {PLACES.filter(({ needs }) => needs === null || mayCall({ role }, needs)).map((place) => (
          <li>
            <a
              href={place.path}
              aria-current={
                path === place.path ? 'page' : isWithin(place.path) ? 'true' : undefined
              }
            >
              {t(`admin.${place.name}`)}
            </a>
          </li>
        ))}
      </ul>
    </nav>
  )
}

interface AdminPage extends Pick<PageOptions, 'title' | 'status' | 'policy'> {
  /** A message about a completed action, shown above the page. */
  readonly notice?: Child
  /** The problem that prevented an action. */
  readonly problem?: AdminProblem | null
}

/** Renders a page of the operators' area, below its navigation. */
export function renderAdmin(
  c: Context<AppEnv>,
  { title, status, policy, notice, problem = null }: AdminPage,
  content: Child,
): Response | Promise<Response> {
  const { t } = c.get('page')
  return renderPage(
    c,
    {
      title,
      status: problem ? toPageStatus(problem) : (status ?? 200),
      ...(policy && { policy }),
    },
    <div class="billing admin">
      <link rel="stylesheet" href={assetUrl('admin.css')} />
      <SubNavigation />
      <div class="stack">
        {notice && (
          <p class="note good" role="status">
            {notice}
          </p>
        )}
        {problem && (
          <p class="note bad" role="alert">
            {describeProblem(problem, t)}
          </p>
        )}
        {content}
      </div>
    </div>,
  )
}

/**
 * Returns the status of a page with the problem. A missing decision counts as an invalid form. 502
 * becomes 503, because proxies replace pages with the status 502.
 */
function toPageStatus({ problem, status }: AdminProblem): NonNullable<PageOptions['status']> {
  if (problem === 'decision-required') return 422
  if (problem === 'provider-unavailable') return 503
  return status as NonNullable<PageOptions['status']>
}

/** Whether the operator can solve the problem by changing the form. */
export function isSolvableInForm({ problem }: AdminProblem): boolean {
  return problem === 'decision-required' || problem === 'invalid-input'
}

/** Problems whose detail tells an operator more than the kind. The details are in English. */
const DETAILED: readonly ProblemName[] = [
  'forbidden',
  'conflict',
  'invalid-input',
  'provider-refused',
  'provider-unavailable',
]

/** Describes in the language of the page why an operation was refused or failed. */
export function describeProblem(problem: AdminProblem, t: PageText): Child {
  if (problem.cause instanceof AccountUnfinished) return redactText(problem.cause.in(t))
  const text = t(`admin.problem.${problem.problem}`)
  if (!DETAILED.includes(problem.problem)) return text
  const fields = Object.entries(problem.fields ?? {}).map(
    ([name, texts]) => `${name}: ${texts.join(' ')}`,
  )
  const detail = redactText(fields.length > 0 ? fields.join(' ') : problem.message)
  return t.parts('admin.detail', { text, detail: <span lang="en">{detail}</span> })
}

/** The problems of the fields of a form, by the name of the field. They are in English. */
export function fieldProblems(problem: AdminProblem | null): Readonly<Record<string, string>> {
  const fields = Object.entries(problem?.fields ?? {})
  return Object.fromEntries(fields.map(([name, texts]) => [name, texts.join(' ')]))
}

/** Renders a problem as a page of its own. */
export function renderProblem(
  c: Context<AppEnv>,
  problem: AdminProblem,
): Response | Promise<Response> {
  const { t, service } = c.get('page')
  if (problem.problem === 'not-found') {
    return errorPage(c, {
      status: 404,
      title: t('error.notFound.title'),
      message: t('admin.problem.not-found'),
    })
  }
  if (problem.problem === 'fresh-sign-in-required') return renderSignInAgain(c)
  if (problem.problem === 'unexpected') {
    service.logger.error({ err: problem.cause }, 'A request failed unexpectedly')
  }
  if (toPageStatus(problem) === 503) c.header('retry-after', '1')
  return renderAdmin(
    c,
    { title: t('admin.problem.title'), status: toPageStatus(problem) },
    <section class="card narrow">
      <h1>{t('admin.problem.title')}</h1>
      <p role="alert">{describeProblem(problem, t)}</p>
    </section>,
  )
}

/**
 * Performs the operation of a posted form. If it was refused or failed, `show` renders the page
 * with the form again.
 */
export async function performOrShowProblem(
  c: Context<AppEnv>,
  work: () => Promise<Response> | Response,
  show: (problem: AdminProblem) => Promise<Response> | Response,
): Promise<Response> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof AdminProblem)) throw error
    if (error.problem === 'not-found' || error.problem === 'fresh-sign-in-required') throw error
    if (error.problem === 'unexpected') {
      c.get('page').service.logger.error({ err: error.cause }, 'A request failed unexpectedly')
    }
    return show(error)
  }
}

/** A form that performs an operation once, however often it is sent. */
export const AdminForm: FC<JSX.IntrinsicElements['form'] & { version?: string | undefined }> = ({
  children,
  version,
  ...form
}) => (
  <CsrfForm {...form}>
    <input type="hidden" name={FIELDS.key} value={randomBytes(16).toString('base64url')} />
    {version !== undefined && <input type="hidden" name={FIELDS.version} value={version} />}
    {children}
  </CsrfForm>
)

/** Returns the URL that lets the operator sign in again and return to the current page. */
function signInAgain(c: Context<AppEnv>): string {
  const { pathname, search } = new URL(c.req.url)
  return `/login?${new URLSearchParams({ prompt: 'login', return_to: pathname + search })}`
}

/** Whether the operator's sign-in is too old for the operation. */
function isSignInTooOld(c: Context<AppEnv>, name: string): boolean {
  const { signedInAt } = getOperator(c)
  const { clock } = c.get('page').service
  return needsFreshSignIn(requireOperation(name)) && !isFreshSignIn(signedInAt, clock.now())
}

/**
 * Renders the page that asks the operator to sign in again, because the sign-in was too old when
 * the form was sent.
 */
function renderSignInAgain(c: Context<AppEnv>) {
  const { t } = c.get('page')
  return renderAdmin(
    c,
    { title: t('admin.signIn.title'), status: 403 },
    <section class="card narrow">
      <h1>{t('admin.signIn.title')}</h1>
      <p role="alert">
        {t('admin.signIn.unsent')} {t('admin.signIn.text')}
      </p>
      <a class="button primary" href={signInAgain(c)}>
        {t('admin.signIn.link')}
      </a>
    </section>,
  )
}

export interface AdminConfirmation {
  /** Title of the window. */
  readonly title: string
  /** The question, used as the heading. */
  readonly question: Child
  /** Name of the operation. Decides whether a recent sign-in is needed. */
  readonly operation: string
  /** Label of the button that performs the operation. */
  readonly confirmLabel: string
  /**
   * Whether the operation takes nothing away from anyone, so that its button needs no warning
   * color.
   * @default false
   */
  readonly isHarmless?: boolean
  /** Label of the safe button. @default `Change nothing` */
  readonly cancelLabel?: string
  /** Version of the object that the operator is asked to confirm a change to. */
  readonly version?: string
  /** Why the operation was not performed. A string must be in the language of the page. */
  readonly problem?: AdminProblem | string | null
  /** The consequences, and fields for any decisions. */
  readonly children?: Child
}

/**
 * Renders the page that asks for confirmation of an operation. The page has the same URL as its
 * form; the handler of the form must redirect back if `isCancelled()` is true. If the operation
 * requires a sign-in within the last ten minutes and the operator's is older, the page offers to
 * sign in again instead.
 */
export function renderConfirmation(c: Context<AppEnv>, view: AdminConfirmation) {
  const { t } = c.get('page')
  const { title, question, problem = null, version } = view
  const { pathname, search } = new URL(c.req.url)
  const mustSignIn = isSignInTooOld(c, view.operation)
  return renderAdmin(
    c,
    { title, status: typeof problem === 'string' ? 422 : problem ? toPageStatus(problem) : 200 },
    <section class="card narrow">
      <h1>{question}</h1>
      <Refusal
        text={typeof problem === 'string' ? problem : problem && describeProblem(problem, t)}
      />
      <AdminForm action={pathname + search} class="stack" version={version}>
        {mustSignIn ? (
          <>
            <p class="notice">{t('admin.signIn.text')}</p>
            <div class="buttons wide">
              <button type="submit" name="decision" value="stay" formnovalidate>
                {view.cancelLabel ?? t('admin.stay')}
              </button>
              <a class="button primary" href={signInAgain(c)}>
                {t('admin.signIn.link')}
              </a>
            </div>
          </>
        ) : (
          <>
            {view.children}
            <div class="buttons wide">
              <button type="submit" name="decision" value="stay" formnovalidate>
                {view.cancelLabel ?? t('admin.stay')}
              </button>
              <button
                type="submit"
                class={view.isHarmless ? 'primary' : 'danger'}
                name="decision"
                value="go"
              >
                {view.confirmLabel}
              </button>
            </div>
          </>
        )}
      </AdminForm>
    </section>,
  )
}

interface PagerProps {
  readonly c: Context<AppEnv>
  readonly next: string | null
  /** The list, if the page has several: its name in the URL, and its title. */
  readonly list?: { readonly name: string; readonly title: string }
}

/** Links to the first and the next page of a list, with the same filters. */
export const Pager: FC<PagerProps> = ({ c, next, list }) => {
  const { t } = usePage()
  const { pathname, searchParams } = new URL(c.req.url)
  const name = list?.name ?? 'after'
  const isFirst = !searchParams.has(name)
  if (isFirst && next === null) return null
  const to = (after: string | null) => {
    const query = new URLSearchParams(searchParams)
    query.delete('done')
    if (after === null) query.delete(name)
    else query.set(name, after)
    return query.size > 0 ? `${pathname}?${query}` : pathname
  }
  return (
    <p class="row spread">
      {!isFirst && (
        <a href={to(null)} aria-label={list && t('admin.firstOf', { list: list.title })}>
          {t('admin.first')}
        </a>
      )}
      {next !== null && (
        <a
          class="button"
          href={to(next)}
          rel="next"
          aria-label={list && t('admin.nextOf', { list: list.title })}
        >
          {t('admin.next')}
        </a>
      )}
    </p>
  )
}

/** The name of a role in the language of the page. */
export function describeRole(role: Role, t: PageText): string {
  return t(`admin.role.${role}`)
}
