package mqtt

import (
	"strings"
	"time"

	server "github.com/mochi-mqtt/server/v2"
	"github.com/mochi-mqtt/server/v2/packets"

	"opsmon/app/ingest/signal"
	"opsmon/schema/strictjson"
)

// hook is where the library asks.
type hook struct {
	server.HookBase
	b *Broker
}

// ID implements server.Hook.
func (h *hook) ID() string { return "signals" }

// Provides implements server.Hook.
func (h *hook) Provides(b byte) bool {
	switch b {
	case server.OnConnect, server.OnConnectAuthenticate, server.OnACLCheck, server.OnSessionEstablished, server.OnPacketRead, server.OnPacketEncode, server.OnPublish:
		return true
	}
	return false
}

// OnConnect implements server.Hook: it decides who may connect.
func (h *hook) OnConnect(cl *server.Client, pk packets.Packet) error { return h.b.signIn(cl, pk) }

// OnConnectAuthenticate implements server.Hook: OnConnect has looked.
func (h *hook) OnConnectAuthenticate(*server.Client, packets.Packet) bool { return true }

// OnACLCheck implements server.Hook: nobody may subscribe. Whether a topic may be written to OnPublish decides.
func (h *hook) OnACLCheck(_ *server.Client, _ string, write bool) bool { return write }

// OnSessionEstablished implements server.Hook.
func (h *hook) OnSessionEstablished(cl *server.Client, _ packets.Packet) {
	if k, ok := cl.Net.Conn.(*conn); ok {
		h.b.established(k)
	}
}

// OnPacketRead implements server.Hook: it takes out of packets what the broker does not do.
func (h *hook) OnPacketRead(_ *server.Client, pk packets.Packet) (packets.Packet, error) {
	switch pk.FixedHeader.Type {
	case packets.Connect:
		pk.Connect.Clean = true // no session outlives its connection
		pk.Connect.WillFlag, pk.Connect.WillRetain, pk.Connect.WillQos, pk.Connect.WillTopic, pk.Connect.WillPayload = false, false, 0, "", nil
		pk.Connect.WillProperties = packets.Properties{}
	case packets.Publish:
		pk.FixedHeader.Retain = false
		if strings.HasPrefix(pk.TopicName, "$") {
			pk.TopicName = "/" + pk.TopicName // the library would drop it without a word; no template has it either way
		}
	}
	return pk, nil
}

// OnPacketEncode implements server.Hook: it tells MQTT 5 what the broker does not do.
func (h *hook) OnPacketEncode(_ *server.Client, pk packets.Packet) packets.Packet {
	if pk.FixedHeader.Type == packets.Connack && pk.ProtocolVersion >= 5 && pk.ReasonCode == 0 {
		p := &pk.Properties
		p.RetainAvailable, p.RetainAvailableFlag = 0, true
		p.WildcardSubAvailable, p.WildcardSubAvailableFlag = 0, true
		p.SharedSubAvailable, p.SharedSubAvailableFlag = 0, true
		p.SubIDAvailable, p.SubIDAvailableFlag = 0, true
		p.MaximumPacketSize = uint32(h.b.cfg.Limits.Packet)
	}
	return pk
}

// OnPublish implements server.Hook: it takes a message over. The library does nothing more with it.
func (h *hook) OnPublish(cl *server.Client, pk packets.Packet) (packets.Packet, error) {
	if k, ok := cl.Net.Conn.(*conn); ok {
		h.b.take(k, cl, &pk)
	}
	return pk, packets.ErrRejectPacket
}

// maxPace is how long a message waits for its turn before the connection ends.
const maxPace = 5_000_000_000 // ns

// soon is how long after its last acknowledgement a device that waits for each sends the next, in ns, about.
const soon = 10_000_000

// take judges a message and gives it to the intake. It waits while too much is under way.
func (b *Broker) take(k *conn, cl *server.Client, pk *packets.Packet) {
	b.messages.Add(1)
	if !b.admit(k, cl, pk) {
		return
	}
	size := int64(len(pk.Payload))
	if b.budget.Acquire(k.ctx, size) != nil {
		return
	}
	five := cl.Properties.ProtocolVersion >= 5
	a := ack{id: pk.PacketID, qos: pk.FixedHeader.Qos}
	m := message{from: k.sender, hurry: a.qos > 0 && len(k.inFlight) == 1 && time.Now().UnixNano()-k.answered.Load() < soon}
	object, no := b.judge(k.sender, pk)
	switch {
	case no.issue == "":
		m.objects = []any{object}
	case no.cause == signal.CauseForeign && !five && a.qos > 0:
		// MQTT 3.1.1 cannot say no. To say yes would be a lie, so the connection ends.
		b.cfg.Signals.NoteRefused(k.sender.signal(nil), no.cause, no.issue, 1)
		b.budget.Release(size)
		b.endSoon(k, EndedForeign, packets.ErrNotAuthorized)
		return
	default:
		b.cfg.Signals.NoteRefused(k.sender.signal(nil), no.cause, no.issue, 1)
		a.refuse(no.cause, no.issue, five)
	}
	m.answer = func(outcomes []signal.Outcome, err error) {
		b.budget.Release(size)
		if err != nil {
			b.endSoon(k, EndedStore, packets.ErrServerBusy)
			return
		}
		if len(outcomes) > 0 && !outcomes[0].Accepted {
			a.refuse(outcomes[0].Cause, outcomes[0].Issue, five)
		}
		k.answer(a)
	}
	if !b.in.put(k.ctx, m) {
		b.budget.Release(size)
	}
}

// admit waits until a connection may send one more; false: the connection has ended, or is made to.
func (b *Broker) admit(k *conn, cl *server.Client, pk *packets.Packet) bool {
	if k.ended() {
		return false
	}
	if pk.FixedHeader.Qos == 2 && cl.State.Inflight.Len() >= b.cfg.Limits.InFlight { // it releases none
		b.endSoon(k, EndedPace, packets.ErrReceiveMaximum)
		return false
	}
	if wait := b.cfg.Signals.Pace(k.sender.account, k.sender.source); wait > 0 {
		if wait > maxPace {
			b.endSoon(k, EndedPace, packets.ErrMessageRateTooHigh)
			return false
		}
		if !sleep(k.ctx, wait) {
			return false
		}
	}
	if b.cfg.Signals.Await(k.ctx, k.sender.account, k.sender.source) != nil {
		return false
	}
	select {
	case k.inFlight <- struct{}{}:
		return true
	case <-k.ctx.Done():
		return false
	}
}

// refuse makes an acknowledgement one that tells why. MQTT 3.1.1 gets a plain one: what is wrong with the message would be
// wrong again, and it would come for ever.
func (a *ack) refuse(cause signal.Cause, issue string, five bool) {
	if !five {
		return
	}
	a.why = issue
	switch cause {
	case signal.CauseForeign:
		a.code = packets.ErrNotAuthorized
	case signal.CauseStation:
		a.code = packets.ErrTopicNameInvalid
	default:
		a.code = packets.ErrPayloadFormatInvalid
	}
}

// no says why a message is no signal; its issue is "" when it is one.
type no struct {
	cause signal.Cause
	issue string
}

// judge makes the object of a message, or says why it is none.
func (b *Broker) judge(s *sender, pk *packets.Packet) (object any, why no) {
	station := ""
	for _, t := range b.cfg.Topics {
		account, code, ok := t.match(pk.TopicName)
		if !ok {
			continue
		}
		if account != "" && account != s.account {
			return nil, no{signal.CauseForeign, "the topic is another account's"}
		}
		station = code
		break
	}
	if station == "" {
		return nil, no{signal.CauseForeign, "the topic must be one for signals, such as v1/" + s.account + "/signals/STATION"}
	}
	if !s.maySend(station) {
		return nil, no{signal.CauseForeign, "the topic names a station that is not one of this device's"}
	}
	return objectOf(pk.Payload, station)
}

// objectOf reads a payload as a signal of a station; "" leaves the station to what the payload says.
func objectOf(payload []byte, station string) (object any, why no) {
	if s, ok := signal.Quick(payload, signal.MQTT); ok && (s.Station == "" || s.Station == station || station == "") {
		if station != "" {
			s.Station = station
		}
		return s, no{}
	}
	v, err := strictjson.Decode(payload)
	if err != nil {
		return nil, no{signal.CauseMalformed, "is not one JSON object: " + err.Error()}
	}
	properties, ok := v.(map[string]any)
	if !ok {
		return nil, no{signal.CauseMalformed, "must be one JSON object"}
	}
	return properties, place(properties, station)
}

// place puts the station of a topic into an object that does not name another.
func place(object map[string]any, station string) no {
	if station == "" {
		return no{}
	}
	for _, name := range []string{"station_code", "stationCode"} {
		if given, there := object[name]; there && given != nil {
			if given != station {
				return no{signal.CauseValue, name + " is not the station of the topic"}
			}
			return no{}
		}
		delete(object, name)
	}
	object["station_code"] = station
	return no{}
}
