import type { Context, Hono } from 'hono'
import type { FC } from 'hono/jsx'
import type { AdminProblem } from '../../../admin/problems.ts'
import type { AppEnv } from '../../../http/variables.ts'
import { usePage } from '../../parts/layout.tsx'
import { Fact, Moment } from '../../parts/table.tsx'
import { CreditNotes } from '../billing/credit-notes.tsx'
import { describeProvider } from '../billing/describe-provider.ts'
import { Disputes } from '../billing/dispute-table.tsx'
import { Invoices } from '../billing/invoices.tsx'
import { Quotas } from '../billing/quotas.tsx'
import { renews, Subscriptions } from '../billing/subscriptions.tsx'
import { Taxes } from '../billing/taxes.tsx'
import {
  AdminForm,
  describeRole,
  getOperator,
  mayCall,
  renderAdmin,
  requireRole,
} from '../parts.tsx'
import { Applications, Factors, Links, Sessions, Tokens } from './access.tsx'
import { PersonState } from './people.tsx'
import { findActionObstacle, type PersonSectionProps, readPersonData } from './person-data.ts'
import { PERSON_DONE, pathOf } from './person-path.ts'
import { Timeline } from './timeline.tsx'

/** Adds the page of a person. */
export function addPersonPage(app: Hono<AppEnv>): void {
  app.get('/admin/people/:id', requireRole('viewer'), (c) =>
    renderPerson(c, c.req.param('id'), null),
  )
}

/** Renders the page of a person, with the actions that the operator's role allows. */
export async function renderPerson(
  c: Context<AppEnv>,
  id: string,
  problem: AdminProblem | null,
): Promise<Response> {
  const { t } = c.get('page')
  const data = await readPersonData(c, id)
  const operator = getOperator(c)
  const { person } = data
  const obstacle = findActionObstacle(operator, person)
  const can = (name: string) => obstacle === null && mayCall(operator, name)
  const done = problem ? undefined : PERSON_DONE.find((name) => name === c.req.query('done'))
  return renderAdmin(
    c,
    { title: person.email, notice: done && t(`people.done.${done}`), problem },
    <>
      <div class="heading">
        <div>
          <h1>
            <bdi>{person.email}</bdi>
          </h1>
          <PersonState person={person} />
        </div>
      </div>
      {obstacle !== null && operator.role !== 'viewer' && <p class="note">{t(obstacle)}</p>}
      <Details data={data} />
      <Acts data={data} can={can} />
      <Subscriptions data={data} can={can} />
      <Quotas data={data} can={can} />
      <Taxes data={data} can={can} />
      <Invoices data={data} can={can} />
      <CreditNotes data={data} can={can} />
      <Disputes data={data} can={can} />
      <Sessions data={data} can={can} />
      <Factors data={data} />
      <Links data={data} can={can} />
      <Applications data={data} can={can} />
      <Tokens data={data} can={can} />
      <Timeline data={data} can={can} />
    </>,
  )
}

const Details: FC<Pick<PersonSectionProps, 'data'>> = ({ data: { person, factors } }) => {
  const { t } = usePage()
  return (
    <section class="card stack" aria-labelledby="facts-title">
      <h2 id="facts-title">{t('people.facts')}</h2>
      <dl class="facts">
        <Fact term={t('accounts.id')}>{person.id}</Fact>
        {person.name !== null && (
          <Fact term={t('accounts.name')}>
            <bdi>{person.name}</bdi>
          </Fact>
        )}
        <Fact term={t('accounts.created')}>
          <Moment at={new Date(person.created_at)} />
        </Fact>
        <Fact term={t('accounts.state')}>
          {person.disabled_at === null
            ? t('accounts.maySignIn')
            : t.parts('accounts.disabledSince', {
                moment: <Moment at={new Date(person.disabled_at)} />,
              })}
        </Fact>
        <Fact term={t('people.role')}>
          {person.role === null ? t('people.noRole') : describeRole(person.role, t)}
        </Fact>
        <Fact term={t('factors.title')}>
          {t('people.factors', {
            apps: factors.app === null ? 0 : 1,
            passkeys: factors.passkeys.length,
            codes: factors.recovery_codes,
          })}
        </Fact>
        {person.provider !== null && (
          <Fact term={t('people.customerAt')}>{describeProvider(person.provider)}</Fact>
        )}
      </dl>
    </section>
  )
}

/**
 * The actions on the whole account. All except enabling ask for confirmation on a page of their
 * own.
 */
const Acts: FC<PersonSectionProps> = ({ data: { person, subscriptions }, can }) => {
  const { t } = usePage()
  const path = pathOf(person.id)
  const isDisabled = person.disabled_at !== null
  const mayEnable = isDisabled && can('users.enable')
  const mayDisable = can('users.disable') && (!isDisabled || subscriptions.some(renews))
  const acts = [
    'users.signOut',
    'users.resetFactors',
    'users.enable',
    'users.disable',
    'users.setRole',
    'users.delete',
  ]
  if (!acts.some(can)) return null
  return (
    <section class="card stack" aria-labelledby="acts-title">
      <h2 id="acts-title">{t('people.acts')}</h2>
      <div class="row">
        {mayEnable && (
          <AdminForm action={`${path}/enable`}>
            <button type="submit">{t('accounts.enable')}</button>
          </AdminForm>
        )}
        {!isDisabled && can('users.signOut') && (
          <a class="button" href={`${path}/sign-out`}>
            {t('people.signOut')}
          </a>
        )}
        {can('users.resetFactors') && (
          <a class="button danger-quiet" href={`${path}/reset-factors`}>
            {t('people.resetFactors')}
          </a>
        )}
        {can('users.setRole') && (
          <a class="button" href={`${path}/role`}>
            {t('people.changeRole')}
          </a>
        )}
        {mayDisable && (
          <a class="button danger-quiet" href={`${path}/disable`}>
            {t(isDisabled ? 'accounts.changeSubscription' : 'accounts.disable')}
          </a>
        )}
        {can('users.delete') && (
          <a class="button danger-quiet" href={`${path}/delete`}>
            {t('accounts.delete')}
          </a>
        )}
      </div>
    </section>
  )
}
