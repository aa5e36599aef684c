import type { Context, Hono } from 'hono'
import type { Child, FC } from 'hono/jsx'
import type { AdminProblem } from '../../../admin/problems.ts'
import type { AppEnv } from '../../../http/variables.ts'
import { CHOICES, parseChoice } from '../../../users/account-billing.ts'
import { isCharged } from '../../../users/end-account.ts'
import { parseRole, ROLES } from '../../../users/roles.ts'
import { isCancelled } from '../../parts/confirmation.tsx'
import { Choice } from '../../parts/fields.tsx'
import { readOwnForm } from '../../parts/forms.ts'
import { usePage } from '../../parts/layout.tsx'
import {
  describeRole,
  isAboutForm,
  operatorOf,
  orShowProblem,
  renderConfirmation,
  requireRole,
  runOperation,
} from '../parts.tsx'
import { addDelete } from './delete.tsx'
import { type Done, pathOf, renderPerson } from './person.tsx'
import { obstacleOf, type PersonJson, readPerson, readSubscriptionFacts } from './person-data.ts'
import { SubscriptionChoices, SubscriptionList } from './subscriptions.tsx'

/** An act on a person that one operation performs. */
interface PersonAct {
  readonly operation: string
  /** The `done` of the page of the person afterwards. */
  readonly done: Done
  /** Ids of the texts: `<texts>.title`, `.question`, `.text` and `.go`. Absent if it does not ask. */
  readonly texts?: 'accounts.disable' | `people.${'signOut' | 'role' | AccessKind}`
  /** The input besides the id. `object` is the session, application or token. */
  input?(form: URLSearchParams, object: string): Readonly<Record<string, unknown>>
  /** Decisions that the form asks for. */
  decisions?(c: Context<AppEnv>, person: PersonJson): Promise<Child> | Child
}

type AccessKind = 'endSession' | 'revokeApplication' | 'revokeToken'

/** The acts, by the last part of the address. */
const ACTS: Readonly<Record<string, PersonAct>> = {
  'sign-out': { operation: 'users.signOut', done: 'signed-out', texts: 'people.signOut' },
  enable: { operation: 'users.enable', done: 'enabled' },
  disable: {
    operation: 'users.disable',
    done: 'disabled',
    texts: 'accounts.disable',
    input: (form) => ({ subscription: parseChoice(form.get('subscription')) }),
    async decisions(c, { id }) {
      // From our own tables: an intruder is locked out while a provider is away.
      const subscriptions = await readSubscriptionFacts(c, id)
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
    decisions: (_c, { role }) => <RoleChoices present={role} />,
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
}

/** Adds the acts on a person. All but enabling ask on a page of their own. */
export function addPersonActions(app: Hono<AppEnv>): void {
  for (const [name, act] of Object.entries(ACTS)) {
    const path = `/admin/people/:id/${name}`
    if (act.texts) {
      app.get(path, requireRole('viewer'), (c) => ask(c, act, null))
    }
    // The operation refuses operators with a lesser role, and the audit log has the attempt.
    app.post(path, requireRole('viewer'), async (c) => {
      const form = await readOwnForm(c)
      const id = c.req.param('id') ?? ''
      if (isCancelled(form)) return c.redirect(pathOf(id), 303)
      const work = async () => {
        const input = { id, ...act.input?.(form, c.req.query('object') ?? '') }
        await runOperation(c, act.operation, input, form)
        return c.redirect(pathOf(id, act.done), 303)
      }
      return orShowProblem(c, work, (problem) =>
        isAboutForm(problem) && act.texts ? ask(c, act, problem) : renderPerson(c, id, problem),
      )
    })
  }
  addDelete(app)
}

async function ask(c: Context<AppEnv>, act: PersonAct, problem: AdminProblem | null) {
  const { t } = c.get('page')
  const person = await readPerson(c, c.req.param('id') ?? '')
  // The page of the person says why.
  if (obstacleOf(operatorOf(c), person)) return c.redirect(pathOf(person.id), 303)
  const { operation, texts = 'people.signOut' } = act
  const email = <bdi>{person.email}</bdi>
  return renderConfirmation(c, {
    title: t(`${texts}.title`),
    question: t.parts(`${texts}.question`, { email }),
    operation,
    confirmLabel: t(`${texts}.go`),
    problem,
    children: (
      <>
        <p>{t.parts(`${texts}.text`, { email, id: person.id })}</p>
        {await act.decisions?.(c, person)}
      </>
    ),
  })
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
