import type { AskingApplication, ShownResource, ShownScope } from '@tollgate/oauth'
import type { Child, FC } from 'hono/jsx'
import type { User } from '../../users/user.ts'
import { Choice } from './fields.tsx'

/** What people are told before they decide, on the approval screen and for a device. */
export interface Asked {
  /** Of the service. */
  readonly name: string
  /** Who is asked; null when the account has just gone. */
  readonly user: User | null
  /** Who has registered the application, where that is a user here. */
  readonly owner: User | null
}

interface Question extends AskingApplication {
  readonly userId: string
  readonly otherAccount: string
  readonly scopes: readonly ShownScope[]
  readonly resources: readonly ShownResource[]
  readonly action: string
  readonly csrfToken: string
}

/** The picture comes from this server, and only of applications that somebody here knows. */
export const Asker: FC<{ view: Question; asked: Asked; rest: string }> = ({
  view,
  asked,
  rest,
}) => (
  <>
    {view.logo !== null && <img class="logo" src={view.logo} alt="" width="64" height="64" />}
    <h1>
      <bdi>{view.client.name}</bdi> {rest}
    </h1>
    <p class="quiet-text">
      {asked.user && (
        <>
          You are signed in as <strong>{asked.user.email}</strong>.{' '}
        </>
      )}
      <a href={view.otherAccount}>Not you?</a>
    </p>
  </>
)

/** Who stands behind the application, as far as that is known. */
export const Background: FC<{
  view: Question
  asked: Asked
  destination?: string
  toOwnComputer?: boolean
  opensProgram?: string | null
}> = (props) => {
  const { view, asked, destination, toOwnComputer = false, opensProgram = null } = props
  const { selfRegistered } = view
  return (
    <>
      <dl class="facts">
        <Known term="Registered by">
          <Owner view={view} asked={asked} />
        </Known>
        {selfRegistered !== null && selfRegistered.host !== null && (
          <Known term="Comes from">{selfRegistered.host}</Known>
        )}
        {view.resources.map(({ uri, name }) => (
          <Known term="Access to">
            {name !== null && (
              <>
                <bdi>{name}</bdi>,{' '}
              </>
            )}
            <strong>{uri}</strong>
          </Known>
        ))}
        {destination !== undefined && (
          <Known term={opensProgram === null ? 'Sends you to' : 'Opens'}>
            {opensProgram === null ? (
              <strong>{destination}</strong>
            ) : (
              <>
                the program on your device that handles <strong>{opensProgram}</strong> links
              </>
            )}
            {toOwnComputer ? ' on your own computer' : ''}, whatever you decide
          </Known>
        )}
        <Known term="Verified">{view.verified ? 'Yes' : 'No'}</Known>
      </dl>
      {!view.verified && view.client.userId !== view.userId && (
        <p class="notice warning">
          <strong>Unverified:</strong> nobody here has looked at this application. It may not be
          what its name says. Approve only if you know whose it is.
        </p>
      )}
      {opensProgram !== null && (
        <p class="notice warning">
          <strong>A program on your device:</strong> any program can claim {opensProgram} links.
          Approve only if you have just started it yourself.
        </p>
      )}
      {toOwnComputer && (
        <p class="notice warning">
          <strong>On your own computer:</strong> the answer goes to a program there, and any program
          there can ask in this name. Approve only if you have just started it yourself.
        </p>
      )}
    </>
  )
}

const Known: FC<{ term: string; children?: Child }> = ({ term, children }) => (
  <div>
    <dt>{term}</dt>
    <dd>{children}</dd>
  </div>
)

/** By the name they gave for themselves. Their e-mail address is not for strangers. */
const Owner: FC<{ view: Question; asked: Asked }> = ({ view, asked }) => {
  const { client, selfRegistered, userId } = view
  if (client.userId === userId) return <>You</>
  if (client.userId === null) {
    return (
      <>
        {selfRegistered ? 'Itself: nobody here knows whose it is' : `Those who run ${asked.name}`}
      </>
    )
  }
  const name = asked.owner?.name
  return name ? (
    <>
      <bdi>{name}</bdi>, a user of {asked.name}
    </>
  ) : (
    <>A user of {asked.name} who gives no name</>
  )
}

/** The whole form: what goes with the approval, what may be left out, and the two buttons. */
export const Decision: FC<{ view: Question; who: string; children?: Child }> = (props) => {
  const { view, who, children } = props
  const fixed = view.scopes.filter(({ checkbox }) => checkbox === null)
  const optional = view.scopes.filter(({ checkbox }) => checkbox !== null)
  return (
    <form method="post" action={view.action}>
      <input type="hidden" name="csrf_token" value={view.csrfToken} />
      {view.scopes.length === 0 && (
        <p>If you approve, {who} will see who you are. It asks for nothing else.</p>
      )}
      {fixed.length > 0 && (
        <>
          <p>If you approve, {who} will be able to:</p>
          <ul class="scopes">
            {fixed.map((scope) => (
              <li>{scope.description}</li>
            ))}
          </ul>
        </>
      )}
      {optional.length > 0 && (
        <fieldset>
          <legend>
            {fixed.length > 0
              ? 'These are up to you:'
              : `If you approve, ${who} will be able to do what you choose:`}
          </legend>
          {optional.map((scope) => (
            <ScopeChoice scope={scope} />
          ))}
        </fieldset>
      )}
      {children}
      <Reading view={view} />
      <div class="buttons wide">
        <button name="decision" value="deny" type="submit">
          Deny
        </button>
        <button class="primary" name="decision" value="approve" type="submit">
          Approve
        </button>
      </div>
    </form>
  )
}

const ScopeChoice: FC<{ scope: ShownScope }> = ({ scope: { description, checkbox } }) =>
  checkbox && <Choice id={checkbox.name} type="checkbox" title={description} {...checkbox} />

/** What the application says of itself. In a tab of its own, because the question stays. */
const Reading: FC<{ view: AskingApplication }> = ({ view: { policyUri, termsUri } }) => {
  const links = [
    { href: policyUri, words: 'Privacy policy' },
    { href: termsUri, words: 'Terms of service' },
  ].flatMap(({ href, words }) => (href === null ? [] : [{ href, words }]))
  if (links.length === 0) return null
  return (
    <ul class="plain quiet-text">
      {links.map(({ href, words }) => (
        <li>
          <a href={href} target="_blank" rel="noopener noreferrer">
            {words}
          </a>{' '}
          at {new URL(href).host}
        </li>
      ))}
    </ul>
  )
}

/** On the sign-in page: for what one signs in. The name is the application's own word. */
export const WaitingFor: FC<{ asking: AskingApplication | null; device: boolean }> = (props) => {
  const { asking, device } = props
  if (device) return <p>to connect a device</p>
  if (!asking) return null
  return (
    <div class="waiting">
      {asking.logo !== null && <img class="logo" src={asking.logo} alt="" width="48" height="48" />}
      <p>
        to go on to{' '}
        <strong>
          <bdi>{asking.client.name}</bdi>
        </strong>
        {asking.selfRegistered?.host && <> from {asking.selfRegistered.host}</>}
        {!asking.verified && <small>Unverified: nobody here has looked at it.</small>}
      </p>
    </div>
  )
}
