import type { Hono } from 'hono'
import type { FC } from 'hono/jsx'
import type { AppEnv } from '../../../http/variables.ts'
import { CHOICES, parseChoice } from '../../../users/account-billing.ts'
import { isCharged } from '../../../users/end-account.ts'
import { parseRole, ROLES } from '../../../users/roles.ts'
import { Choice } from '../../parts/fields.tsx'
import { usePage } from '../../parts/layout.tsx'
import { describeRole } from '../parts.tsx'
import { BILLING_ACTS } from './billing-acts.tsx'
import { CREDIT_NOTE_ACTS } from './credit-note-acts.tsx'
import { addDelete } from './delete.tsx'
import { PAUSE_ACTS } from './pauses.tsx'
import { addPersonAct, type PersonAction } from './person-act.tsx'
import { type PersonJson, readSubscriptionDetails } from './person-data.ts'
import { PLANNED_CHANGE_ACTS } from './planned-changes.tsx'
import { SubscriptionChoices, SubscriptionList } from './subscriptions.tsx'
import { TAX_ACTS } from './tax-acts.tsx'

/**
 * The actions on an account, its sessions, approvals and tokens, by the last part of the URL path.
 */
const ACTS: Readonly<Record<string, PersonAction>> = {
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
    input: (form) => ({ subscription: parseChoice(form.get('subscription')) }),
    async decisions({ c, person }) {
      // From our own tables: an intruder is locked out while a provider is away.
      const subscriptions = await readSubscriptionDetails(c, person.id)
      return (
        <>
          <SubscriptionList subscriptions={subscriptions} />
          {subscriptions.some(isCharged) && <SubscriptionChoices offered={CHOICES} />}
        </>
      )
    },
  },
  role: {
    operation: 'users.setRole',
    done: 'role-changed',
    texts: 'people.role',
    input: (form) => ({ role: parseRole(form.get('role')) }),
    decisions: ({ person }) => <RoleChoices present={person.role} />,
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

/** Adds the acts on a person. */
export function addPersonActions(app: Hono<AppEnv>): void {
  const all = {
    ...ACTS,
    ...BILLING_ACTS,
    ...PLANNED_CHANGE_ACTS,
    ...PAUSE_ACTS,
    ...TAX_ACTS,
    ...CREDIT_NOTE_ACTS,
  }
  for (const [name, act] of Object.entries(all)) addPersonAct(app, name, act)
  addDelete(app)
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
