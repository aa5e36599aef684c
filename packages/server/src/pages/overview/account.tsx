import type { Context } from 'hono'
import type { FC } from 'hono/jsx'
import type { AppEnv, PageContext } from '../../http/variables.ts'
import {
  CHOICES,
  type SubscriptionChoice,
  type SubscriptionFact,
} from '../../users/account-billing.ts'
import {
  CHOICE_EFFECTS,
  describeFuture,
  describeOpen,
  describeOutcome,
} from '../../users/describe-account.ts'
import { type AccountOutcome, isCharged, isLive, type Standing } from '../../users/end-account.ts'
import type { Account } from '../../users/user.ts'
import { planOf } from '../billing/model/plans.ts'
import { Price } from '../billing/sections/price.tsx'
import { Confirmation } from '../parts/confirmation.tsx'
import { Choice } from '../parts/fields.tsx'
import { CsrfField } from '../parts/layout.tsx'
import { type PageOptions, renderPage } from '../parts/render.tsx'
import { Moment } from '../parts/table.tsx'

interface AccountView {
  readonly account: Account
  readonly subscriptions: readonly SubscriptionFact[]
  readonly notice?: string | undefined
  readonly problem?: string
  readonly status?: PageOptions['status']
}

/** One account, as operators see it. Nothing is changed from here but that it may sign in again. */
export function renderAccount(c: Context<AppEnv>, view: AccountView) {
  const page = c.get('page')
  const { account, subscriptions, notice, problem, status = 200 } = view
  const user = encodeURIComponent(account.id)
  return renderPage(
    c,
    { title: 'Account', status },
    <section class="card narrow stack">
      <h1>
        <bdi>{account.email}</bdi>
      </h1>
      {problem && (
        <p class="note bad" role="alert">
          {problem}
        </p>
      )}
      {notice && (
        <p class="note good" role="status">
          {notice}
        </p>
      )}
      <dl class="facts">
        <Fact term="Id">{account.id}</Fact>
        {account.name !== null && (
          <Fact term="Name">
            <bdi>{account.name}</bdi>
          </Fact>
        )}
        <Fact term="Since">
          <Moment at={account.createdAt} />
        </Fact>
        <Fact term="State">
          {account.disabledAt ? (
            <>
              Disabled, since <Moment at={account.disabledAt} />
            </>
          ) : (
            'May sign in'
          )}
        </Fact>
      </dl>
      <Subscriptions {...{ page, subscriptions }} />
      <div class="actions">
        {account.disabledAt && (
          <form method="post" action="/overview/users/enable" data-once>
            <CsrfField page={page} />
            <input type="hidden" name="user" value={account.id} />
            <button type="submit">Enable</button>
          </form>
        )}
        {(!account.disabledAt || subscriptions.some(isCharged)) && (
          <a class="button" href={`/overview/users/disable?user=${user}`}>
            {account.disabledAt ? 'Change the subscription' : 'Disable'}
          </a>
        )}
        <a class="button danger-quiet" href={`/overview/users/delete?user=${user}`}>
          Delete for good
        </a>
      </div>
      <p class="aside">
        <a href="/overview">Back to the overview</a>
      </p>
    </section>,
  )
}

const Fact: FC<{ term: string; children?: unknown }> = ({ term, children }) => (
  <div>
    <dt>{term}</dt>
    <dd>{children as string}</dd>
  </div>
)

const Subscriptions: FC<{ page: PageContext; subscriptions: readonly SubscriptionFact[] }> = ({
  page,
  subscriptions,
}) => {
  const { settings } = page.service.config
  if (subscriptions.length === 0) return <p>They have no subscription.</p>
  return (
    <ul class="plain stack">
      {subscriptions.map((fact) => {
        const plan = planOf(settings.plans, { provider: fact.provider, providerPlan: fact.plan })
        return (
          <li>
            {plan && fact.state !== 'ended' && (
              <p>
                <strong>
                  <bdi>{plan.name}</bdi>
                </strong>
                , <Price plan={plan} quantity={fact.quantity} settings={settings} />
              </p>
            )}
            <p>{describeFuture(fact)}</p>
          </li>
        )
      })}
    </ul>
  )
}

interface QuestionView extends Standing {
  readonly account: Account
  readonly problem?: string | null
}

/** Asks whether to lock an account, and what happens to subscriptions that would be charged again. */
export function renderDisable(c: Context<AppEnv>, view: QuestionView) {
  const page = c.get('page')
  const { account, subscriptions, problem = null } = view
  const isAsked = subscriptions.some(isCharged)
  return renderPage(
    c,
    { title: 'Disable an account', status: problem === null ? 200 : 422 },
    <Confirmation
      page={page}
      title={
        <>
          Disable <bdi>{account.email}</bdi>?
        </>
      }
      action="/overview/users/disable"
      fields={{ user: account.id }}
      stay="Leave it as it is"
      go="Disable the account"
      problem={problem}
    >
      <p>
        All sessions and tokens of <bdi>{account.email}</bdi> (id {account.id}) end at once, and
        they can no longer sign in, not even to cancel. The account and what it holds stay.
      </p>
      <Subscriptions {...{ page, subscriptions }} />
      {isAsked && <Choices offered={CHOICES} />}
    </Confirmation>,
  )
}

/** Asks whether to delete an account, and what happens to what runs and to what is open. */
export function renderDelete(c: Context<AppEnv>, view: QuestionView) {
  const page = c.get('page')
  const { account, subscriptions, open, problem = null } = view
  const lines = describeOpen(open)
  const isAsked = subscriptions.some(isLive)
  return renderPage(
    c,
    { title: 'Delete an account', status: problem === null ? 200 : 422 },
    <Confirmation
      page={page}
      title={
        <>
          Delete <bdi>{account.email}</bdi> for good?
        </>
      }
      action="/overview/users/delete"
      fields={{ user: account.id }}
      stay="Keep the account"
      go="Delete for good"
      problem={problem}
    >
      <p>
        The account of <bdi>{account.email}</bdi> (id {account.id}) is deleted with its sessions,
        tokens and approvals. This cannot be undone. Invoices stay at the payment provider.
      </p>
      <Subscriptions {...{ page, subscriptions }} />
      {isAsked && (
        <>
          <Choices offered={['now', 'period-end']} />
          <p>
            An account is deleted once nothing runs. With an end later, it is disabled until then,
            and you delete it after that day. To keep the subscription,{' '}
            <a href={`/overview/users/disable?user=${encodeURIComponent(account.id)}`}>
              disable the account
            </a>{' '}
            instead.
          </p>
        </>
      )}
      {lines.length > 0 && (
        <>
          <p>This is still open:</p>
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
            title="Void it"
            description="None of it is ever charged. Without this, an account with open amounts is not deleted."
          />
        </>
      )}
      <label class="check">
        <input type="checkbox" name="confirm" value="yes" required /> I want to delete this account
      </label>
    </Confirmation>,
  )
}

const TITLES: Readonly<Record<SubscriptionChoice, string>> = {
  now: 'End it now',
  'period-end': 'End it when the paid period ends',
  keep: 'Keep it',
}

const Choices: FC<{ offered: readonly SubscriptionChoice[] }> = ({ offered }) => (
  <fieldset>
    <legend>What happens to the subscription?</legend>
    {offered.map((choice) => (
      <Choice
        id={`subscription-${choice}`}
        type="radio"
        name="subscription"
        value={choice}
        title={TITLES[choice]}
        description={CHOICE_EFFECTS[choice]}
      />
    ))}
  </fieldset>
)

/** The account is gone, so this page says what was done. */
export function renderDeleted(c: Context<AppEnv>, outcome: AccountOutcome) {
  return renderPage(
    c,
    { title: 'Account deleted' },
    <section class="card narrow stack">
      <h1>Account deleted</h1>
      <p role="status">
        <bdi>{outcome.account.email}</bdi> is deleted, with sessions, tokens and approvals. Invoices
        stay at the payment provider.
      </p>
      {describeOutcome(outcome).map((sentence) => (
        <p>{sentence}</p>
      ))}
      <p class="aside">
        <a href="/overview">Back to the overview</a>
      </p>
    </section>,
  )
}
