import type { Hono } from 'hono'
import type { FC } from 'hono/jsx'
import type { AppEnv } from '../../../http/variables.ts'
import { parseSubscriptionChoice, SUBSCRIPTION_CHOICES } from '../../../users/account-billing.ts'
import { isCharged } from '../../../users/end-account.ts'
import { parseRole, ROLES } from '../../../users/roles.ts'
import { Choice } from '../../parts/fields.tsx'
import { usePage } from '../../parts/layout.tsx'
import { type Action, type ActionPages, addActionRoutes } from '../billing/action.tsx'
import { OWNER_ACTIONS } from '../billing/acts.ts'
import { addInvoicesPage } from '../billing/invoices.tsx'
import { SubscriptionChoices, SubscriptionList } from '../billing/subscriptions.tsx'
import { describeRole, getOperator } from '../parts.tsx'
import { addDeleteAccountPage } from './delete.tsx'
import { renderPerson } from './person.tsx'
import {
  findActionObstacle,
  type PersonJson,
  type PersonPayer,
  readPersonPayer,
  readSubscriptionDetails,
} from './person-data.ts'
import type { CompletedAction } from './person-path.ts'

/**
 * The actions on an account, its sessions, approvals and tokens, by the last part of the URL path.
 */
const ACTS: Readonly<Record<string, Action<PersonPayer> & { readonly done: CompletedAction }>> = {
  'sign-out': { operation: 'users.signOut', done: 'signed-out', texts: 'people.signOut' },
  'reset-factors': {
    operation: 'users.resetFactors',
    done: 'factors-reset',
    texts: 'people.resetFactors',
  },
  enable: { operation: 'users.enable', done: 'enabled' },
  disable: {
    operation: 'users.disable',
    done: 'disabled',
    texts: 'accounts.disable',
    input: (form) => ({ subscription: parseSubscriptionChoice(form.get('subscription')) }),
    async decisions({ c, payer: { person } }) {
      // From our own tables: an intruder is locked out while a provider is away.
      const subscriptions = await readSubscriptionDetails(c, person.id)
      return (
        <>
          <SubscriptionList subscriptions={subscriptions} />
          {subscriptions.some(isCharged) && <SubscriptionChoices offered={SUBSCRIPTION_CHOICES} />}
        </>
      )
    },
  },
  role: {
    operation: 'users.setRole',
    done: 'role-changed',
    texts: 'people.role',
    input: (form) => ({ role: parseRole(form.get('role')) }),
    decisions: ({ payer }) => <RoleChoices present={payer.person.role} />,
  },
  'end-session': {
    operation: 'users.endSession',
    done: 'session-ended',
    texts: 'people.endSession',
    input: (_form, session) => ({ session }),
  },
  'revoke-application': {
    operation: 'users.revokeApplication',
    done: 'application-revoked',
    texts: 'people.revokeApplication',
    input: (_form, client) => ({ client }),
  },
  'revoke-token': {
    operation: 'users.revokeToken',
    done: 'token-revoked',
    texts: 'people.revokeToken',
    input: (_form, token) => ({ token }),
  },
  unlink: {
    operation: 'users.unlink',
    done: 'unlinked',
    texts: 'people.unlink',
    input: (_form, link) => ({ link }),
  },
}

/** Adds the routes of the actions on a person's account. */
export function addAllPersonActionRoutes(app: Hono<AppEnv>): void {
  const pages = {
    path: '/admin/people',
    read: readPersonPayer,
    isForbidden: (c, { person }) => findActionObstacle(getOperator(c), person) !== null,
    render: renderPerson,
  } satisfies Partial<ActionPages<PersonPayer>>
  const asUser = { ...pages, target: (id: string) => ({ id }) }
  const asOwner = { ...pages, target: (id: string) => ({ owner: id }) }
  for (const act of Object.entries(ACTS)) addActionRoutes(app, act, asUser)
  for (const act of OWNER_ACTIONS) addActionRoutes(app, act, asOwner)
  addInvoicesPage(app, asOwner)
  addDeleteAccountPage(app)
}

const RoleChoices: FC<{ present: PersonJson['role'] }> = ({ present }) => {
  const { t } = usePage()
  return (
    <fieldset>
      <legend>{t('people.role')}</legend>
      {[null, ...ROLES].map((role) => (
        <Choice
          id={`role-${role ?? 'none'}`}
          type="radio"
          name="role"
          value={role ?? ''}
          title={role === null ? t('people.noRole') : describeRole(role, t)}
          description={t(`people.role.${role ?? 'none'}`)}
          checked={role === present}
        />
      ))}
    </fieldset>
  )
}
