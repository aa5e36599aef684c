import type { Words } from './words.ts'

/** Dutch. */
export const nl: Words = {
  invoice: {
    invoice: 'Factuur',
    receipt: 'Kwitantie',
    number: 'Nummer',
    date: 'Datum',
    billedTo: 'Gefactureerd aan',
    description: 'Omschrijving',
    period: 'Periode',
    amount: 'Bedrag',
    subtotal: 'Subtotaal',
    discount: 'Korting',
    tax: 'Btw',
    included: 'inbegrepen',
    total: 'Totaal',
    paidFromCredit: 'Betaald uit tegoed',
    balanceFromBefore: 'Eerder saldo',
    amountPaid: 'Betaald bedrag',
    amountDue: 'Te betalen',
    page: 'pagina {page} van {pages}',
    creditNote: 'Creditnota',
    forInvoice: 'Bij factuur',
    refunded: 'Terugbetaald',
    toBalance: 'Toegevoegd aan uw tegoed',
    outside: 'Op andere wijze verrekend',
    taxId: 'Btw-nummer',
    reverseCharge: 'Btw verlegd',
  },
  mail: {
    greeting: 'Beste {name},',
    hello: 'Beste klant,',
    closing: 'Met vriendelijke groet',
    receipt: {
      subject: 'Uw kwitantie van {vendor}',
      text: 'Wij hebben uw betaling van {amount} voor {product} ontvangen. Dank u wel.',
    },
    payment_failed: {
      subject: 'Uw betaling aan {vendor} is mislukt',
      text: 'Wij konden {amount} voor {product} niet innen.',
    },
    action_required: {
      subject: 'Bevestig uw betaling aan {vendor}',
      text: 'Uw bank vraagt u de betaling van {amount} voor {product} te bevestigen. Tot die tijd is ze niet voltooid.',
    },
    trial_ending: {
      subject: 'Uw proefperiode van {product} eindigt op {date}',
      text: 'Uw proefperiode van {product} eindigt op {date}.',
    },
    card_expiring: {
      subject: 'Uw kaart verloopt binnenkort',
      text: 'Uw kaart {card} verloopt eind {month}. Geef vóór die tijd een andere op, zodat uw betalingen voor {product} doorgaan.',
    },
    refunded: {
      subject: 'Uw terugbetaling van {vendor}',
      text: 'Wij hebben u {amount} terugbetaald. Het kan enkele dagen duren voordat u het op uw rekening ziet.',
    },
    triedAgain: 'Wij proberen het op {date} opnieuw. Zorg ervoor dat uw betaalmiddel dan werkt.',
    lastAttempt: 'Geef een ander betaalmiddel op, zodat uw abonnement kan doorlopen.',
    subscriptionFollows:
      'Als u niet eerder opzegt, loopt uw abonnement door en wordt het in rekening gebracht.',
    noSubscription: 'Wilt u het blijven gebruiken, neem dan een abonnement.',
    changeMethod: 'Betaalmiddel wijzigen',
    confirm: 'Betaling bevestigen',
    manage: 'Abonnement beheren',
  },
}
