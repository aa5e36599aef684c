// A shop's first steps with Braintree's SDK for Java. See clients.mjs
import com.braintreegateway.*;
import com.braintreegateway.exceptions.AuthenticationException;
import com.braintreegateway.exceptions.NotFoundException;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.logging.LogManager;

class BraintreeShop {
  static final BraintreeGateway gateway = open("sandbox_private_key");

  static BraintreeGateway open(String key) {
    return new BraintreeGateway(Environment.DEVELOPMENT, "sandbox_merchant", "sandbox_public_key", key);
  }

  static void same(Object found, Object expected) {
    if (!Objects.equals(found, expected)) throw new AssertionError(found + ", and not " + expected);
  }

  static <T> T must(Result<T> result, String what) {
    if (!result.isSuccess()) throw new AssertionError(what + ": " + result.getMessage());
    System.out.println("ok " + what);
    return result.getTarget();
  }

  static void raises(Class<?> kind, Runnable call) {
    try {
      call.run();
    } catch (RuntimeException error) {
      same(error.getClass(), kind);
      return;
    }
    throw new AssertionError("expected " + kind);
  }

  static BigDecimal money(String amount) {
    return new BigDecimal(amount);
  }

  public static void main(String[] arguments) {
    LogManager.getLogManager().reset();
    System.out.println("version: " + Configuration.VERSION);

    // Customer and payment method
    var customer = must(gateway.customer().create(new CustomerRequest().firstName("Zoë&<sons>").email("zoe@example.com")
        .creditCard().number("4111111111111111").expirationDate("12/2030").options().verifyCard(true).done()
        .billingAddress().streetAddress("1 Rue Ada").countryName("France").done().done()), "customer");
    same(customer.getFirstName(), "Zoë&<sons>");
    same(customer.getAddresses().get(0).getCountryCodeAlpha2(), "FR");
    var token = customer.getCreditCards().get(0).getToken();
    must(gateway.paymentMethod().create(new PaymentMethodRequest().customerId(customer.getId())
        .paymentMethodNonce("fake-paypal-billing-agreement-nonce")), "PayPal account");
    same(must(gateway.paymentMethodNonce().create(token), "nonce").getType(), "CreditCard");

    // Subscription
    var plan = must(gateway.plan().create(new PlanRequest().name("Gold").price(money("10.00")).billingFrequency(1)
        .currencyIsoCode("USD")), "plan").getId();
    var subscription = must(gateway.subscription().create(new SubscriptionRequest().paymentMethodToken(token)
        .planId(plan)), "subscription");
    same(subscription.getStatus(), Subscription.Status.ACTIVE);
    same(subscription.getTransactions().get(0).getAmount(), money("10.00"));
    var trial = must(gateway.subscription().create(new SubscriptionRequest().paymentMethodToken(token).planId(plan)
        .trialPeriod(true).trialDuration(2).trialDurationUnit(Subscription.DurationUnit.MONTH)), "trial");
    same(trial.getTransactions().size(), 0);
    var changed = must(gateway.subscription().update(subscription.getId(), new SubscriptionRequest()
        .price(money("25.00")).options().prorateCharges(true).done()), "another price");
    same(changed.getPrice(), money("25.00"));
    same(changed.getTransactions().get(0).getAmount(), money("15.00"));

    // One-time sale
    var sale = must(gateway.transaction().sale(new TransactionRequest().amount(money("12.34")).paymentMethodToken(token)
        .options().submitForSettlement(true).done()
        .lineItem().name("Mug").kind(TransactionLineItem.Kind.DEBIT).quantity(money("2")).unitAmount(money("6.17"))
        .totalAmount(money("12.34")).done()), "sale");
    same(gateway.transactionLineItem().findAll(sale.getId()).get(0).getName(), "Mug");
    same(must(gateway.transaction().voidTransaction(sale.getId()), "void").getStatus(), Transaction.Status.VOIDED);
    var settled = must(gateway.transaction().sale(new TransactionRequest().amount(money("20.00"))
        .paymentMethodNonce("fake-valid-nonce").options().submitForSettlement(true).done()), "sale by nonce");
    gateway.testing().settle(settled.getId());
    var refund = must(gateway.transaction().refund(settled.getId(), money("5.00")), "refund");
    same(refund.getAmount(), money("5.00"));
    same(refund.getRefundedTransactionId(), settled.getId());
    var declined = gateway.transaction().sale(new TransactionRequest().amount(money("2001.00")).paymentMethodToken(token));
    same(declined.getTransaction().getProcessorResponseCode(), "2001");
    var wrong = gateway.transaction().sale(new TransactionRequest().amount(money("-1")).paymentMethodToken(token));
    same(wrong.getErrors().getAllDeepValidationErrors().get(0).getCode(),
        ValidationErrorCode.TRANSACTION_AMOUNT_CANNOT_BE_NEGATIVE);
    raises(NotFoundException.class, () -> gateway.customer().find("nobody"));
    raises(AuthenticationException.class, () -> open("wrong").customer().find("nobody"));
    System.out.println("ok refusals");

    // Searches
    var amounts = new ArrayList<BigDecimal>();
    for (Transaction each : gateway.transaction().search(new TransactionSearchRequest().customerId().is(customer.getId())
        .amount().between(money("12.00"), money("100.00")))) amounts.add(each.getAmount());
    same(amounts.stream().sorted().toList(), List.of(money("12.34"), money("15.00")));
    var active = new ArrayList<String>();
    for (Subscription each : gateway.subscription().search(new SubscriptionSearchRequest().planId().is(plan)
        .status().in(Subscription.Status.ACTIVE))) active.add(each.getId());
    same(active.size(), 2);
    System.out.println("ok searches");

    // Client token and webhooks
    gateway.clientToken().generate(new ClientTokenRequest().customerId(customer.getId()));
    var hook = gateway.webhookTesting().sampleNotification(WebhookNotification.Kind.SUBSCRIPTION_CANCELED, "s");
    var parsed = gateway.webhookNotification().parse(hook.get("bt_signature"), hook.get("bt_payload"));
    same(parsed.getSubscription().getId(), "s");
    System.out.println("ok client token and notification");

    // Deletion
    must(gateway.subscription().cancel(subscription.getId()), "cancelled");
    must(gateway.paymentMethod().delete(token), "card deleted");
    must(gateway.customer().delete(customer.getId()), "customer deleted");
    raises(NotFoundException.class, () -> gateway.customer().find(customer.getId()));
  }
}
