import type {
  ConsentView,
  DeviceQuestion,
  RequestingApplication,
  ShownScope,
} from '@tollgate/oauth'
import type { Child, FC } from 'hono/jsx'
import type { PageText } from '../../messages/messages.ts'
import type { User } from '../../users/user.ts'
import { Choice } from './fields.tsx'
import { Fact } from './table.tsx'

/** Data for the question whether to approve an application or a device. */
export interface ApprovalContext {
  /** Name of the service. */
  readonly name: string
  /** The signed-in user. `null` if the account has just been deleted. */
  readonly user: User | null
  /** The user who registered the application. `null` if it was not registered by a user. */
  readonly owner: User | null
  readonly t: PageText
}

type Question = ConsentView | DeviceQuestion

/**
 * The heading of the approval screen. A logo is shown only for applications that an operator has
 * registered or verified, and is served by this service.
 */
export const RequestHeading: FC<{
  view: Question
  context: ApprovalContext
  heading: 'approve.heading' | 'device.confirm.heading'
}> = ({ view, context: { user, t }, heading }) => {
  const link = <a href={view.otherAccount}>{t('approve.notYou')}</a>
  return (
    <>
      {view.logo !== null && <img class="logo" src={view.logo} alt="" width="64" height="64" />}
      <h1>{t.parts(heading, { application: <bdi>{view.client.name}</bdi> })}</h1>
      <p class="quiet-text">
        {user
          ? t.parts('approve.signedInAs', { email: <strong>{user.email}</strong>, link })
          : link}
      </p>
    </>
  )
}

/**
 * Facts and warnings about the application: its owner, host and destination, and whether it is
 * verified.
 */
export const ClientDetails: FC<{ view: Question; context: ApprovalContext }> = ({
  view,
  context,
}) => {
  const { t } = context
  const toOwnComputer = 'toOwnComputer' in view && view.toOwnComputer
  const opensProgram = 'opensProgram' in view ? view.opensProgram : null
  const { selfRegistered } = view
  return (
    <>
      <dl class="facts">
        <Fact term={t('approve.registeredBy')}>
          <Owner view={view} context={context} />
        </Fact>
        {selfRegistered !== null && selfRegistered.host !== null && (
          <Fact term={t('approve.from')}>{selfRegistered.host}</Fact>
        )}
        {view.resources.map(({ uri, name }) => (
          <Fact term={t('approve.accessTo')}>
            {name === null ? (
              <strong>{uri}</strong>
            ) : (
              t.parts('approve.namedResource', {
                name: <bdi>{name}</bdi>,
                uri: <strong>{uri}</strong>,
              })
            )}
          </Fact>
        ))}
        {'destination' in view && <Destination view={view} t={t} />}
        <Fact term={t('approve.verified')}>{t(view.verified ? 'approve.yes' : 'approve.no')}</Fact>
      </dl>
      {!view.verified && view.client.userId !== view.userId && (
        <p class="notice warning">
          {t.parts('approve.unverified', {
            label: <strong>{t('approve.unverified.label')}</strong>,
          })}
        </p>
      )}
      {opensProgram !== null && (
        <p class="notice warning">
          {t.parts('approve.program', {
            label: <strong>{t('approve.program.label')}</strong>,
            scheme: opensProgram,
          })}
        </p>
      )}
      {toOwnComputer && (
        <p class="notice warning">
          {t.parts('approve.ownComputer', {
            label: <strong>{t('approve.ownComputer.label')}</strong>,
          })}
        </p>
      )}
    </>
  )
}

const Destination: FC<{ view: ConsentView; t: PageText }> = ({ view, t }) => {
  const { opensProgram, toOwnComputer } = view
  if (opensProgram !== null) {
    const scheme = <strong>{opensProgram}</strong>
    return (
      <Fact term={t('approve.opens')}>{t.parts('approve.destination.program', { scheme })}</Fact>
    )
  }
  const destination = <strong>{view.destination}</strong>
  const id = toOwnComputer ? 'approve.destination.ownComputer' : 'approve.destination'
  return <Fact term={t('approve.sendsTo')}>{t.parts(id, { destination })}</Fact>
}

/** The owner by the name they chose. Their e-mail address is not shown to others. */
const Owner: FC<{ view: Question; context: ApprovalContext }> = ({ view, context }) => {
  const { client, selfRegistered, userId } = view
  const { t, name: service } = context
  if (client.userId === userId) return <>{t('approve.owner.you')}</>
  if (client.userId === null) {
    return (
      <>{selfRegistered ? t('approve.owner.itself') : t('approve.owner.operator', { service })}</>
    )
  }
  const name = context.owner?.name
  return (
    <>
      {name
        ? t.parts('approve.owner.user', { name: <bdi>{name}</bdi>, service })
        : t('approve.owner.nameless', { service })}
    </>
  )
}

/**
 * The form of the approval screen: required scopes, optional scopes, and the buttons to approve and
 * deny.
 */
export const ApprovalForm: FC<{ view: Question; t: PageText; children?: Child }> = (props) => {
  const { view, t, children } = props
  const fixed = view.scopes.filter(({ checkbox }) => checkbox === null)
  const optional = view.scopes.filter(({ checkbox }) => checkbox !== null)
  return (
    <form method="post" action={view.action}>
      <input type="hidden" name="csrf_token" value={view.csrfToken} />
      {view.scopes.length === 0 && <p>{t('approve.identityOnly')}</p>}
      {fixed.length > 0 && (
        <>
          <p>{t('approve.willBeAble')}</p>
          <ul class="scopes">
            {fixed.map((scope) => (
              <li>{scope.description}</li>
            ))}
          </ul>
        </>
      )}
      {optional.length > 0 && (
        <fieldset>
          <legend>{t(fixed.length > 0 ? 'approve.optional' : 'approve.choose')}</legend>
          {optional.map((scope) => (
            <ScopeChoice scope={scope} />
          ))}
        </fieldset>
      )}
      {children}
      <DocumentLinks view={view} t={t} />
      <div class="buttons wide">
        <button name="decision" value="deny" type="submit">
          {t('approve.deny')}
        </button>
        <button class="primary" name="decision" value="approve" type="submit">
          {t('approve.approve')}
        </button>
      </div>
    </form>
  )
}

const ScopeChoice: FC<{ scope: ShownScope }> = ({ scope: { description, checkbox } }) =>
  checkbox && <Choice id={checkbox.name} type="checkbox" title={description} {...checkbox} />

/**
 * Links to the application's own documents. They open in a new tab, because the question must stay
 * open.
 */
const DocumentLinks: FC<{ view: RequestingApplication; t: PageText }> = ({ view, t }) => {
  const links = [
    { href: view.policyUri, id: 'approve.privacyPolicy' },
    { href: view.termsUri, id: 'approve.terms' },
  ] as const
  if (links.every(({ href }) => href === null)) return null
  return (
    <ul class="plain quiet-text">
      {links.map(
        ({ href, id }) =>
          href !== null && (
            <li>
              {t.parts(id, {
                link: (
                  <a href={href} target="_blank" rel="noopener noreferrer">
                    {t(`${id}.link`)}
                  </a>
                ),
                host: new URL(href).host,
              })}
            </li>
          ),
      )}
    </ul>
  )
}

/**
 * The line on the sign-in page that names the application the person signs in for. The application
 * chose that name itself.
 */
export const SignInPurpose: FC<{
  asking: RequestingApplication | null
  device: boolean
  t: PageText
}> = ({ asking, device, t }) => {
  if (device) return <p>{t('signIn.forDevice')}</p>
  if (!asking) return null
  const application = (
    <strong>
      <bdi>{asking.client.name}</bdi>
    </strong>
  )
  const host = asking.selfRegistered?.host
  return (
    <div class="waiting">
      {asking.logo !== null && <img class="logo" src={asking.logo} alt="" width="48" height="48" />}
      <p>
        {host
          ? t.parts('signIn.forApplication.from', { application, host })
          : t.parts('signIn.forApplication', { application })}
        {!asking.verified && <small>{t('signIn.unverified')}</small>}
      </p>
    </div>
  )
}
