import type { Context, Hono } from 'hono'
import type { AdminProblem } from '../../../admin/problems.ts'
import { toProblem } from '../../../admin/to-problem.ts'
import type { ServiceContext } from '../../../context.ts'
import type { AppEnv } from '../../../http/variables.ts'
import type { PageText } from '../../../messages/messages.ts'
import {
  type OpenAmounts,
  parseSubscriptionChoice,
  type SubscriptionFact,
} from '../../../users/account-billing.ts'
import { describeFuture, describeOpen } from '../../../users/describe-account.ts'
import {
  type AccountObligations,
  DecisionRequired,
  isLive,
  readObligations,
} from '../../../users/end-account.ts'
import type { Account } from '../../../users/user.ts'
import { isCancelled } from '../../parts/confirmation.tsx'
import { Choice } from '../../parts/fields.tsx'
import { readCsrfForm } from '../../parts/forms.ts'
import { SubscriptionChoices, SubscriptionList } from '../billing/subscriptions.tsx'
import {
  getOperator,
  isSolvableInForm,
  performOrShowProblem,
  renderAdmin,
  renderConfirmation,
  requireRole,
  runOperation,
} from '../parts.tsx'
import { renderPerson } from './person.tsx'
import { findActionObstacle, readPerson } from './person-data.ts'
import { pathOf } from './person-path.ts'

/** The output of `users.delete`. */
interface Deletion {
  readonly state: 'disabled' | 'deleted'
  readonly subscriptions: ReadonlyArray<
    Omit<SubscriptionFact, 'endsAt'> & { readonly ends_at: string | null }
  >
  readonly voided: {
    readonly unbilled_usage: OpenAmounts['usage']
    readonly unpaid: OpenAmounts['debts']
  }
}

/** Adds the deletion of an account, which asks about its subscriptions and open amounts. */
export function addDeleteAccountPage(app: Hono<AppEnv>): void {
  const path = '/admin/people/:id/delete'
  app.get(path, requireRole('viewer'), (c) => renderDeleteConfirmation(c, null))

  app.post(path, requireRole('viewer'), async (c) => {
    const form = await readCsrfForm(c)
    const id = c.req.param('id')
    if (isCancelled(form)) return c.redirect(pathOf(id), 303)
    const { service, t } = c.get('page')
    if (form.get('confirm') !== 'yes') return renderDeleteConfirmation(c, t('accounts.confirm'))
    const work = async () => {
      // It is gone when the form is sent a second time.
      const account = await service.users.findAccount(id)
      const done = await runOperation<Deletion>(
        c,
        'users.delete',
        {
          id,
          subscription: parseSubscriptionChoice(form.get('subscription')),
          void_open: form.get('void') === 'yes',
        },
        form,
      )
      return done.state === 'deleted'
        ? renderDeleted(c, account?.email ?? id, done)
        : c.redirect(pathOf(id, 'waiting'), 303)
    }
    return performOrShowProblem(c, work, (problem) =>
      isSolvableInForm(problem)
        ? renderDeleteConfirmation(c, problem)
        : renderPerson(c, id, problem),
    )
  })
}

async function renderDeleteConfirmation(c: Context<AppEnv>, problem: AdminProblem | string | null) {
  const { service, t } = c.get('page')
  const person = await readPerson(c, c.req.param('id') ?? '')
  // The page of the person says why.
  if (findActionObstacle(getOperator(c), person)) return c.redirect(pathOf(person.id), 303)
  const account = await service.users.findAccount(person.id)
  if (!account) return c.redirect('/admin/people?done=unknown', 303)
  const { subscriptions, open } = await readAccountObligations(service, account)
  const lines = describeOpen(open, t)
  const email = <bdi>{person.email}</bdi>
  return renderConfirmation(c, {
    title: t('accounts.delete.title'),
    question: t.parts('accounts.delete.question', { email }),
    operation: 'users.delete',
    cancelLabel: t('accounts.delete.stay'),
    confirmLabel: t('accounts.delete.go'),
    problem: typeof problem === 'object' && problem ? describeDecision(problem, t) : problem,
    children: (
      <>
        <p>{t.parts('accounts.delete.text', { email, id: person.id })}</p>
        <SubscriptionList subscriptions={subscriptions} />
        {subscriptions.some(isLive) && (
          <>
            <SubscriptionChoices offered={['now', 'period-end']} />
            <p>
              {t.parts('accounts.delete.later', {
                link: (
                  <a href={`${pathOf(person.id)}/disable`}>{t('accounts.delete.later.link')}</a>
                ),
              })}
            </p>
          </>
        )}
        {lines.length > 0 && (
          <>
            <p>{t('accounts.delete.open')}</p>
            <ul>
              {lines.map((line) => (
                <li>{line}</li>
              ))}
            </ul>
            <Choice
              id="void"
              type="checkbox"
              name="void"
              value="yes"
              title={t('accounts.delete.void')}
              description={t('accounts.delete.voidText')}
            />
          </>
        )}
        <label class="check">
          <input type="checkbox" name="confirm" value="yes" required />{' '}
          {t('accounts.delete.confirm')}
        </label>
      </>
    ),
  })
}

/**
 * Reads the subscriptions and open amounts of an account.
 * @throws AdminProblem if the provider is unavailable.
 */
async function readAccountObligations(
  { admin }: ServiceContext,
  account: Account,
): Promise<AccountObligations> {
  try {
    return await readObligations(admin.billing, account)
  } catch (error) {
    throw toProblem(error)
  }
}

/** Says which decision is missing. */
function describeDecision(problem: AdminProblem, t: PageText): AdminProblem | string {
  if (!(problem.cause instanceof DecisionRequired)) return problem
  const isChoice = problem.cause.subscriptions.length > 0
  return t(isChoice ? 'accounts.choose' : 'accounts.chooseOpen')
}

/** Renders what a deletion did. The page of the account itself no longer exists. */
function renderDeleted(c: Context<AppEnv>, email: string, { subscriptions, voided }: Deletion) {
  const { t } = c.get('page')
  const open = { usage: voided.unbilled_usage, debts: voided.unpaid }
  const sentences = [
    ...subscriptions.map(({ ends_at, ...fact }) =>
      describeFuture({ ...fact, endsAt: ends_at === null ? null : new Date(ends_at) }, t),
    ),
    ...describeOpen(open, t).map((line) => t('open.voided', { line })),
  ]
  return renderAdmin(
    c,
    { title: t('accounts.deleted.title') },
    <section class="card narrow stack">
      <h1>{t('accounts.deleted.title')}</h1>
      <p role="status">{t.parts('accounts.deleted.text', { email: <bdi>{email}</bdi> })}</p>
      {sentences.map((sentence) => (
        <p>{sentence}</p>
      ))}
      <p class="aside">
        <a href="/admin/people">{t('people.back')}</a>
      </p>
    </section>,
  )
}
